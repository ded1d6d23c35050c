# In a step's folder, make says what to type where.
$(error this is the folder of a step; type cd .. && make $(firstword $(subst _, ,$(notdir $(CURDIR)))))
