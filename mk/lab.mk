# The lab: exercises and their grades, the pre-lab, slides, and archives for students.

# The objects that each check of a submission links. They are built from this tree, never from a submission.
build/lab/harness.o: $(COMMON_CPP) $(MAIN) build/commands/link
	$(call say,link,$@) sh mk/whole.sh $@ $(CXX) -r -nostdlib -Wl,--strip-debug $(filter %.o,$^)

# build/rewrite processes only the submission's own text, because common/step.h is precompiled. With it is all of CUDA
# that the simulator has, so that a submission need not include what a lesson does not use. Only numeric types are
# tried, because `T zero = 0` does not compile for the others.
LAB_TYPES := -DELEMENT_TYPES=void,void,float,double,int,void
# FILL_LOCALS: uninitialized local variables get a fixed pattern, not the values of an earlier thread. nvcc has no
# arrays whose length is known only when the kernel runs. The option decides a macro of the compiler: without it here,
# too, the precompiled header would not be used.
LAB_COMPILE = $(CXX) -std=c++17 -I. $(LAB_TYPES) $(SIM_CPP) $(CPPFLAGS) $(CXXFLAGS) -pthread \
              $(filter-out -w,$(SIM_KERNELS)) -Wvla -Werror=vla $(FILL_LOCALS) -fno-jump-tables $(NO_UNIQUE)
# A table of jumps would look like a call through a pointer (lab/objects.py), and a unique symbol cannot be made local.
NO_UNIQUE = $(if $(GCC),-fno-gnu-unique)
# An unused constant in a submission is not an error.
LAB_CUDA = $(filter-out -Werror all-warnings -Wall$(comma)-Wextra$(comma)-Werror, \
           $(subst -Xcompiler -Wall,-Wall,$(CUDA_COMPILE)))

# The commands that lab/check.py runs: the compiler, the compiler of the second witness (mk/witness.mk), the linker, and
# nvcc where there is a card. Text for the shell.
LAB_WITNESS = $(call as_witness,$(LAB_COMPILE))
LAB_LINK = $(CXX) -pthread $(LDFLAGS)
LAB_CARD = $(if $(GPU),$(LAB_CUDA) $(WRAP))
$(eval $(call NOTE,lab/compile,LAB_COMPILE))
$(eval $(call NOTE,lab/witness,LAB_WITNESS))
$(eval $(call NOTE,lab/link,LAB_LINK))
$(eval $(call NOTE,lab/cuda,LAB_CARD))

# compile.h.gch is for the command in build/lab/compile, and so on.
build/lab/%.h.gch: common/step.h build/lab/%
	@printf '#include "%s"\n' cuda_runtime.h common/step.h > build/lab/$*.h.$$$$ && \
	    mv build/lab/$*.h.$$$$ build/lab/$*.h
	$(call say,C++,$@) sh mk/whole.sh -d $@ $(file < build/lab/$*) -x c++-header -c build/lab/$*.h

.PHONY: lab-ready
lab-ready: $(addprefix build/lab/,harness.o compile.h.gch witness.h.gch link cuda) build/rewrite \
           build/cuda/made $(if $(GPU),$(patsubst %.cu,build/%.cuda.o,$(wildcard common/devices/*.cu)))

# make lab04, or make lab04 FILE=path.
LABS := $(ONE_GPU_STEPS:step%=lab%) $(patsubst exercise%.cu,lab%,$(notdir $(call numbered_exercises,step[0-9][0-9])))
.PHONY: $(LABS)
$(LABS): lab%: lab-ready
	@bash mk/words.sh CHECK python3 lab/check.py $* $(if $(FILE),--file "$$FILE") $(if $(SHOW),--show) \
	    $(if $(NAME),--name "$$NAME") $(if $(SEED),--seed "$$SEED") $(if $(PAGE),--page "$$PAGE")

# A sheet of questions whose numbers are drawn from a name.
prelab:
	@python3 lab/prelab.py --results "$$RESULTS/prelab" $(if $(NAMES),--names="$$NAMES",-- "$$NAME")

ifeq ($(wildcard lab/grade.py),)
grade grade-prelab slides notebook handout gradescope:
	@echo "make $@: this copy is for students; run it in the instructor's copy" >&2; exit 2
else
grade: lab-ready
	@exec bash mk/words.sh GRADE python3 lab/grade.py "$$SUBMISSIONS" --jobs $(JOBS) --results "$$RESULTS/grades" \
	    $(if $(EXERCISE),--exercise "$$EXERCISE") $(if $(EXPORT),--export "$$EXPORT") \
	    $(if $(SEED),--seed "$$SEED") $(if $(NEWEST),--newest) \
	    $(if $(DUE),--due "$$DUE") $(if $(LATE_POINTS),--late-points "$$LATE_POINTS")

grade-prelab:
	@python3 lab/prelab_grade.py "$$SUBMISSIONS" --results "$$RESULTS/grades"

# The walkthrough for Colab or Jupyter. URL: the repository that its first cell clones.
notebook:
	@python3 lab/notebook.py --url "$$URL"

handout:
	@python3 lab/pack.py "$$RESULTS/transpose.zip"

gradescope:
	@python3 lab/pack.py "$$RESULTS/gradescope-lab$$EXERCISE.zip" --gradescope "$$EXERCISE"

# The lesson of 90 minutes, from the instructor's guide and the pages.
slides: $(PLOTS_READY)
	@echo 'slides: made of the plan in lab/README.md, the pages and the measurements'
	@$(or $(PLOTS_PYTHON),.venv/bin/python) lab/slides.py
endif
