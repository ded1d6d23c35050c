# `make try` builds and runs a program with its own main: FILE=program.cu, or several files of one program, also of C++
# and C; ARGS='its arguments'; SIM='--machine t4 --csv counts.csv --json report.json --sarif findings.sarif
# --trace trace.csv --quiet --blocks 64'; CPPFLAGS='-I... -std=c++20' for its headers and its standard;
# DEVICE=cuda: on the GPU, by nvcc. With the simulator, a report follows what the program prints. sim/simcuda does the
# work.

ifeq ($(DEVICE),cuda)
try: build/simcuda-arguments $(addprefix build/commands/,simcuda simcuda-gpu)
	@$(if $(NVCC),exec bash mk/words.sh ARGS bash mk/try.sh --device cuda $(CPPFLAGS) --, \
	    echo 'make try DEVICE=cuda: needs nvcc' >&2; exit 2)
else
try: simcuda
	@SIM_OPTIONS="$$SIM" exec bash mk/words.sh ARGS bash mk/try.sh $(CPPFLAGS) --
endif

# Programs that the tests run are built in the same way, once.
TRY_OPTIONS = $(CPPFLAGS)
$(eval $(call NOTE,commands/try,TRY_OPTIONS))

build/try/%.o: %.cu build/rewrite build/commands/simcuda build/commands/try | build/cuda/made
	$(call say,sim,$<) bash mk/try_object.sh $@ $< $(CPPFLAGS)

build/try/%: build/try/%.o $(SIM_LIBRARY) build/commands/link
	$(call say,link,$@) bash mk/try_object.sh $@ $<
