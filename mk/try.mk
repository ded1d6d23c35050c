# `make try` builds and runs a program with its own main: FILE=program.cu, or several files of one program, also of C++
# and C; ARGS='its arguments'; SIM='--machine t4 --csv counts.csv --json report.json --sarif findings.sarif
# --trace trace.csv --quiet --blocks 64'; CPPFLAGS='-I... -std=c++20' for its headers and its standard;
# DEVICE=cuda: on the GPU, by nvcc. With the simulator, a report follows what the program prints. sim/simcuda does the
# work.

try: $(if $(filter cuda,$(DEVICE)),$(SIMCUDA_COMMAND),simcuda)
	@exec bash mk/try.sh $(if $(filter cuda,$(DEVICE)),--device cuda) $(CPPFLAGS)

# Programs that the tests run are built in the same way, once.
build/try/%.o: %.cu build/rewrite build/commands/simcuda build/commands/cpp | build/commands/simcuda-more \
                build/cuda/made
	$(call say,sim,$<) mkdir -p $(@D) && SIMCUDA_FOR=make sim/simcuda -c $< -o $@ -MD -MP $(CPPFLAGS)

build/try/%: build/try/%.o $(SIM_LIBRARY) build/commands/link
	$(call say,link,$@) SIMCUDA_FOR=make sim/simcuda $< -o $@
