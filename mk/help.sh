#!/bin/sh
# Prints the targets and the settings of make.
#
# usage: CXX=... NVCC=... JOBS=... ARCH=... mk/help.sh      as they are now
cat <<END
make stepNN            build a step, for example: make step04 && ./step04 (./step04 --help lists its options)
make step08            the step for several GPUs (NCCL_HOME=folder: where NCCL is)
make all               build all steps, step01 to step08
make list              list every kernel: its step, what it produces, its row in the table of sources
make report            run all steps on this machine, and write report/chapter.html (2 to 5 minutes)
make table-whitepaper, make table-book, make table-bandwidth
                       measure a source's tables again, next to the published ones, in results/ or RESULTS=folder
make try               run a CUDA program of yours on the simulator: FILE=program.cu [ARGS='its arguments']
                       [SIM='--machine t4 --csv counts.csv'] [DEVICE=cuda: on the GPU]
                       [PAGE=report.html: a page with requests drawn; AGAINST=before.json: compared with a run before]
make simcuda           build sim/simcuda, which does so from any folder; sim/simcuda --help lists the options of SIM
make install           install simcuda below PREFIX=\$HOME/.local (default: /usr/local); make uninstall removes it

make labNN             check the exercise of a step, or FILE=path (CHECK=--help lists options, as in CHECK=--explain;
                       SHOW=1 marks wrong elements; NAME="Ada Lovelace" draws the second shape from a name;
                       PAGE=lab04.html writes a page)
make prelab            write a pre-lab sheet with numbers drawn from a name: NAME="Ada Lovelace", or NAMES=file for many
make grade             grade a class: SUBMISSIONS=folder [EXERCISE=NN] (GRADE=--help lists options; EXPORT=moodle,
                       DUE="2026-11-30 18:00" LATE_POINTS=10, NEWEST=1, SEED=N)
make grade-prelab      grade pre-lab sheets: SUBMISSIONS=folder
make slides            write the slides for 90 minutes, report/slides.html
make notebook          write lab/transpose.ipynb, the pages and exercises for Colab or Jupyter (URL=repository to clone)
make handout           pack the project for students, without tests and solutions
make gradescope        pack the autograder of an exercise for Gradescope: EXERCISE=NN

make check             verify every kernel, and compare the lessons' counts with an H200's (10 seconds)
make test              build and run the tests; make test-all runs also what takes several times as long
make lint              check the style of the code
make sanitize          run step 4 with the sanitizers of the compiler, in a copy of the tree
make bench-sim         measure the simulator in accesses per second; AGAINST=commit compares it with an earlier one
make clean             remove what was built

These measure this machine's GPU, and need nvcc:
make microbench, elsewhere, timing, readonly, pieces, batches, sources
                       each file of bench/ begins with what it measures
make peers             all steps' kernels and other libraries in turns, each verified (PEER_TYPES, PEER_SIZES)

Settings                                                      now
CXX=clang++            C++ compiler                           $CXX
NVCC=path              nvcc; empty: simulator only            ${NVCC:-none}
JOBS=1                 number of compilations at once         $JOBS
ARCH=sm_90             GPU architecture for nvcc              ${ARCH:-none}
V=1                    show every command
CXXFLAGS, CPPFLAGS, LDFLAGS, LDLIBS, NVCCFLAGS, HOSTCXX, CC, CFLAGS, CUDA_HOME and SIM_O are for compilers.
END
