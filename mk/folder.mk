# In a step's folder, make says what to type where.

STEP := $(firstword $(subst _, ,$(notdir $(CURDIR))))
GOALS := $(or $(MAKECMDGOALS),all)
.PHONY: $(GOALS)
$(firstword $(GOALS)):
	@echo '$(strip make $(subst ','\'',$(MAKECMDGOALS))): this is the folder of a step; type cd .. && make $(STEP)' >&2; \
	    exit 2
$(wordlist 2,99,$(GOALS)): $(firstword $(GOALS))
