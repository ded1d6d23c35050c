# Measuring programs that are not steps, other libraries, and the sources' tables.

# bench/NAME.cu becomes ./NAME.
BENCHES := $(patsubst bench/%.cu,%,$(wildcard bench/*.cu))
ifeq ($(NVCC),)
.PHONY: $(BENCHES)
$(BENCHES) peers:
	@echo 'make $@: needs nvcc and a GPU' >&2; exit 1
else
$(BENCHES): %: build/bench/%.cuda.o $(BASE) build/commands/link
	$(link)

# One program runs every step's kernels and the libraries that transpose, in turns. For libraries whose headers the
# toolkit lacks:
#     CPLUS_INCLUDE_PATH=.../cutlass/include:.../cutensor/include LIBRARY_PATH=.../lib make peers LDLIBS=-lcutensor
PEERS := step07_long_pieces/peers
build/peers: $(COMMON) $(MAIN) $(ALL_KERNELS) $(patsubst %.cu,build/%.cuda.o,$(wildcard $(PEERS)/*.cu)) \
             build/$(PEERS)/python.o build/commands/link
	$(link) -lcublas $(LDLIBS)

peers: build/peers $(if $(filter-out 0 1,$(words $(filter GPU,$(GPU)))),step08)
	bash bench/peers.sh $(words $(filter GPU,$(GPU))) "$$PEER_TYPES" "$$PEER_SIZES" "$$SPREAD_SIZES"
endif

# The sources' tables, measured again and printed next to the published ones. Without a GPU, they are the simulator's
# counts and model, for the whitepaper's tables those of a GTX 280.
table-whitepaper table-book table-bandwidth: table-%: $(STEPS)
	@bash bench/measure.sh $* "$$RESULTS" python3 plots/tables.py $*

# The chapter: all steps run on this machine, then tables, figures and verdicts. The packages come before anything is
# compiled, because fetching them is what may fail. In a checkout of somebody else, it goes next to the results.
report: $(PLOTS_READY)
	@test -w . -o "$$RESULTS" != results || { echo 'make report: this folder cannot be written; name another one:' \
	    'make report RESULTS=folder' >&2; exit 2; }
	@echo 'make report: builds the steps, runs them, and writes the chapter: 2 to 5 minutes on two idle cores'
	@$(MAKE) -s $(STEPS)
	@bash bench/measure.sh report "$$RESULTS" $(or $(PLOTS_PYTHON),.venv/bin/python) plots/report.py \
	    --out "$$(test -w . || echo "$$RESULTS/")report"

list: $(STEPS)
	@for step in $(STEPS); do ./$$step --list; done | awk 'NR == 1 || !/^step  /'
	@printf '%-18s %-30s %-8s %-4s %-21s %s\n' 'every step' '--one-launch, for any kernel' option GPU 'as the kernel' W12
	@echo
	@echo 'W: the whitepaper; B: the book; F: the bandwidth post; C: the coalescing notes; R: the remap post;' \
	    'E: their errata.'
