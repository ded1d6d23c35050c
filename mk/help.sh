#!/bin/sh
# Prints the targets and the settings of make.
#
# usage: mk/help.sh CXX NVCC JOBS ARCH      as they are now
cat <<END
make stepNN            build one step, for example: make step04 && ./step04
make step08            the step for several GPUs: make step08 && ./step08 --gpus 4 (NCCL_HOME=folder: where NCCL is)
make all               build all steps: step01 to step08
make list              list every kernel: its step, what it produces, its row in the table of sources
make table-whitepaper  measure the whitepaper's tables again, and print them next to the published ones
make table-book        the same for the book (each makes a folder in results/, or in RESULTS=folder)
make table-bandwidth   the same for the bandwidth post
make labNN             check the exercise of a step; FILE=path checks another file than its exercise.cu
                       (CHECK=--explain adds the cost of each line; SHOW=1 marks the wrong elements of
                       the smallest matrix; CHECK=--help lists the other options;
                       NAME="Ada Lovelace" draws the second shape from a name)
make grade             grade a class: SUBMISSIONS=folder [EXERCISE=NN] (grades go to results/grades/)
                       (EXPORT=moodle or canvas adds a table for that system; PSEUDONYMS=text hides names
                       on the leaderboard of exercise 8; SEED=N repeats a run; NEWEST=1: of several files of
                       a person, the newest counts; DUE="2026-11-30 18:00" LATE_POINTS=10: late days;
                       GRADE=--help lists the other options)
make prelab            write a pre-lab sheet with numbers drawn from a name: NAME="Ada Lovelace"
                       (it goes to results/prelab/; NAMES=file writes one for each line of a file)
make grade-prelab      grade such sheets: SUBMISSIONS=folder (the table is results/grades/prelab.csv)
make slides            write the slides for 90 minutes, report/slides.html
make handout           pack the project for students, without tests and solutions
make gradescope        pack the autograder of an exercise for Gradescope: EXERCISE=NN
make try               run a CUDA program of yours on the simulator: FILE=program.cu [ARGS=...]
                       [SIM='--machine t4 --gpus 2 --csv counts.csv --sarif findings.sarif'];
                       SIM='--machines h200,t4,mine.machine' prints the modelled times on each;
                       DEVICE=cuda runs it on the GPU
make simcuda           build the command sim/simcuda, which compiles, runs and checks a CUDA program from any folder:
                       sim/simcuda program.cu -I... -- ARGUMENTS; simcuda --help lists its options
make install           install simcuda: PREFIX=\$HOME/.local (default: /usr/local) [DESTDIR=folder]; make uninstall
                       removes it
make report            run all steps on the simulator, the CPU and any GPU, and write report/chapter.html
                       and, with all tables and claims, report/reference.html (2 to 5 minutes; the first time, it
                       fetches four Python packages)
make check             verify every kernel, and compare the lessons' counts with an H200's (10 seconds)
make test              build and run the tests (the first time, it also creates .venv); of what takes long, a sample
make test-all          the same, and everything that takes long
make lint              check the style of the code: lines of at most 120 columns, ruff, shellcheck
make pins              write the pinned packages of Python again, with their hashes, after a change of a
                       requirements.in (PINS=--check compares, PINS=--upgrade takes newer ones that come along)
make sanitize          build step 4 with the sanitizers of the compiler, in a copy of the tree, and run it
                       (some minutes)
make bench-page        measure how fast the page of make report answers in a browser
make bench-sim         measure the simulator in traced accesses per second; AGAINST=commit compares it
                       with an earlier commit
make microbench        measure this GPU's limits, and the latency and bandwidth of its memories (needs nvcc);
                       ./microbench --machine-file mine.machine also writes it as a machine of the simulator
make elsewhere         time kernels as other programs have them on this GPU, for the model's errors (needs nvcc)
make timing            compare ways to time a kernel on this GPU (needs nvcc)
make transfers         measure copies between host and GPU by size, pageable and pinned (needs nvcc)
make readonly          measure loads through __ldg(), __restrict__ and textures on this GPU (needs nvcc)
make trials            measure the variants tried on the way to step 7 on this GPU (needs nvcc)
make peers             measure all steps' kernels, cuBLAS, Thrust, PyTorch, Triton, CuPy and JAX in turns on this GPU,
                       each verified; print ratios and write CSV (needs nvcc); on several GPUs also step 8, NCCL and
                       PyTorch
make compile_commands.json   write how each file is compiled, for editors
make clean             remove what was built

From the environment, make takes CXX, NVCC and JOBS, and CXXFLAGS, CPPFLAGS, LDFLAGS, LDLIBS, NVCCFLAGS, HOSTCXX, CC,
CFLAGS, CUDA_HOME, NCCL_HOME and SIM_O. All others count only on the command line.

CXX=clang++            C++ compiler                           (now: $1)
NVCC=path              path of nvcc; empty: simulator only    (now: $2)
JOBS=1                 number of compilations at once         (now: $3)
V=1                    show every command
ARCH=sm_90             GPU architecture for nvcc              (now: $4)
END
