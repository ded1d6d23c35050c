# Goals that are nearly right: make step4, make Step04, make step04_padding, make lab4. One line says what to type.

KNOWN := $(STEPS) $(LABS)
WRONG := $(filter-out $(KNOWN),$(filter step% Step% STEP% lab% Lab% LAB%,$(filter-out lab-ready,$(MAKECMDGOALS))))
ifneq ($(WRONG),)
.PHONY: $(WRONG)
$(WRONG):
	@sh mk/wrong.sh $(call quoted,$@) $(KNOWN)
endif
