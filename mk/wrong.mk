# Goals that are nearly right: make step4, make Step04, make step04_padding, make lab4. One line says what to type.

KNOWN := $(STEPS) $(LABS)
WRONG := $(filter-out $(KNOWN) lab-ready,$(filter step% Step% STEP% lab% Lab% LAB%,$(MAKECMDGOALS)))
.PHONY: $(WRONG)
$(WRONG):
	@likely=$$(echo '$@' | sed -E 'y/ABELPST/abelpst/; s/^(step|lab)0*([0-9])([^0-9].*)?$$/\10\2/'); \
	    case ' $(KNOWN) ' in *" $$likely "*) echo 'make $@: type make' $$likely ;; \
	    *) echo 'make $@: expected one of $(KNOWN)' ;; esac >&2; exit 2
