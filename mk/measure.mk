# Measuring programs that are not steps, other libraries, and the sources' tables.

# bench/NAME.cu becomes ./NAME.
BENCHES := $(patsubst bench/%.cu,%,$(wildcard bench/*.cu))
ifeq ($(NVCC),)
.PHONY: $(BENCHES)
$(BENCHES) peers:
	@echo 'make $@: needs nvcc and a GPU' >&2; exit 1
else
$(filter-out trials,$(BENCHES)): %: build/bench/%.cuda.o build/commands/link
	$(link)

# Some trials use instructions that only Hopper has.
TRIALS_COMPILE = $(subst -arch=$(ARCH),-arch=sm_90,$(CUDA_COMPILE))
$(eval $(call NOTE,commands/trials,TRIALS_COMPILE))
build/bench/trials.cuda.o: bench/trials.cu build/commands/trials
	$(call say,nvcc,$<) mk/whole.sh -d $@ $(TRIALS_COMPILE) -c $<
trials: build/bench/trials.cuda.o build/commands/link
	$(call say,link,$@) mk/whole.sh $@ $(subst -arch=$(ARCH),-arch=sm_90,$(LINK)) $<

# One program runs every step's kernels and the libraries that transpose, in turns. For libraries whose headers the
# toolkit lacks: CPLUS_INCLUDE_PATH=.../cutlass/include:.../cutensor/include LIBRARY_PATH=.../lib make peers LDLIBS=-lcutensor
PEERS := step07_in_flight/peers
build/peers: $(COMMON) $(MAIN) $(ALL_KERNELS) $(patsubst %.cu,build/%.cuda.o,$(wildcard $(PEERS)/*.cu)) build/$(PEERS)/python.o build/commands/link
	$(link) -lcublas $(LDLIBS)

peers: build/peers $(if $(filter-out 0 1,$(words $(filter GPU,$(GPU)))),step08)
	bench/peers.sh $(words $(filter GPU,$(GPU))) '$(PEER_TYPES)' '$(PEER_SIZES)' '$(SPREAD_SIZES)'
endif

# The sources' tables, measured again. $(call measure,table,step,options) writes each step's results to a separate
# file. Without a GPU, they are the simulator's counts and model, for the whitepaper's tables those of a GTX 280.
measure = ./$(2) --csv $(RESULTS)/$(1)_$(2)$(4).csv $(3)

table-whitepaper: $(STEPS)
	@mkdir -p $(RESULTS) && rm -f $(RESULTS)/whitepaper_*.csv
	for step in step01 step02 step03 step04 step05 step06; do $(call measure,whitepaper,$${step},--kernel W --size 2048 $(if $(GPU),--one-launch,--machine gtx280)) || exit; done
	python3 plots/tables.py whitepaper $(RESULTS)/whitepaper_*.csv

table-book: $(STEPS)
	@mkdir -p $(RESULTS) && rm -f $(RESULTS)/book_*.csv
	for step in $(if $(GPU),step01) step02 step03 step04 step06; do $(call measure,book,$${step},--kernel B --sweep book) || exit; done
	$(call measure,book,step02,--kernel transposeSerialBlocked --sweep book,_blocked)
	$(call measure,book,step04,--kernel transposeTile32Padded --sweep book,_tile32)
	python3 plots/tables.py book $(RESULTS)/book_*.csv

table-bandwidth: $(STEPS)
	@mkdir -p $(RESULTS) && rm -f $(RESULTS)/bandwidth_*.csv
	for step in step01 step02 step06; do $(call measure,bandwidth,$${step},--kernel F --size 4096) || exit; done
	$(call measure,bandwidth,step02,--kernel F9 --size 4096 --block 32x16$(comma)32x8$(comma)64x16$(comma)64x8$(comma)128x8,_blocks)
	$(if $(GPU),for step in step01 step02; do $(call measure,bandwidth,$${step},--kernel F --size 4096 --device sim,_counts) || exit; done)
	python3 plots/tables.py bandwidth $(RESULTS)/bandwidth_*.csv
