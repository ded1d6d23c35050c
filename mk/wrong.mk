# Goals that are nearly right: make step4, make Step04, make step04_padding, make lab4. One line says what to type.

KNOWN := $(STEPS) $(LABS)
WRONG := $(filter-out $(KNOWN),$(filter step% Step% STEP% lab% Lab% LAB%,$(filter-out lab-ready,$(MAKECMDGOALS))))
ifneq ($(WRONG),)
# make prints the name of a goal that fails as it is. One that would move the cursor ends here.
SHOWN := $(shell bash -c '. sim/command/shown.sh; shown "$$1"' - $(call quoted,$(WRONG)))
ifneq ($(SHOWN),$(WRONG))
$(error make $(SHOWN): no goal of this name. Expected one of $(KNOWN))
endif
.PHONY: $(WRONG)
$(WRONG):
	@bash mk/wrong.sh $(call quoted,$@) $(KNOWN)
endif
