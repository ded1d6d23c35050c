// PyTorch, torch.compile, Triton, CuPy and JAX as contenders of `make peers`: each in a Python of its own (peer.py),
// which is asked for one sample at a time, so that it takes turns with the kernels here.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "../../common/base/error.h"
#include "../../common/kernel.h"

extern char** environ;

namespace {

using namespace harness;

// PYTHON=path chooses the interpreter.
const char* python()
{
    const char* chosen = std::getenv("PYTHON");
    return chosen && *chosen ? chosen : "python3";
}

class Library : public Peer {
public:
    explicit Library(const char* name) : name_(name)
    {
        kernels().push_back({name, "-", step_of(__FILE__), "cuda", Role::lesson, transposes_numbers, {}, {}, {}, this});
    }

    ~Library() override { stop(); }

    std::string absent() override
    {
        if (!asked_) start();
        return absent_;
    }

    double time_ms(Type type, int width, int height, int buffers, int passes) override
    {
        const std::string reply = ask(format("time %s %d %d %d %d", name_of(type), width, height, buffers, passes));
        char* end = nullptr;
        const double ms = std::strtod(reply.c_str(), &end);
        if (end != reply.c_str() && *end == '\0') return ms;
        if (reply.rfind("wrong ", 0) == 0) throw Error{status_wrong_result, "wrong result: " + reply.substr(6)};
        throw Error{status_bad_input, reply};
    }

    void release() override
    {
        if (to_) ask("release");
    }

private:
    // Path of peer.py, beside this file.
    static std::string script()
    {
        const std::string here = __FILE__;
        return here.substr(0, here.rfind('/')) + "/peer.py";
    }

    void start()
    {
        asked_ = true;
        if (access(script().c_str(), R_OK) != 0) {
            absent_ = "absent: " + script() + " is not here; run in the project's folder";
            return;
        }
        int there[2], back[2];
        if (pipe(there) != 0 || pipe(back) != 0) throw Error{status_bad_input, format("pipe: %s", strerror(errno))};
        child_ = fork();
        if (child_ == 0) {
            dup2(there[0], 0);
            dup2(back[1], 1);
            for (int fd : {there[0], there[1], back[0], back[1]}) close(fd);
            if (!freopen("/dev/null", "w", stderr)) _exit(127);
            execlp(python(), python(), script().c_str(), name_, nullptr);
            _exit(127);
        }
        close(there[0]);
        close(back[1]);
        to_ = fdopen(there[1], "w");
        from_ = fdopen(back[0], "r");
        signal(SIGPIPE, SIG_IGN);  // one that has died is noticed when its reply is missing
        const std::string reply = line();
        if (reply.rfind("ready ", 0) == 0) return;
        stop();
        absent_ = reply.rfind("absent ", 0) == 0 ? "absent: " + reply.substr(7)
                                                 : std::string("absent: ") + python() + " does not run " + script();
    }

    void stop()
    {
        if (to_) fclose(to_);
        if (from_) fclose(from_);
        to_ = from_ = nullptr;
        if (child_ > 0) waitpid(child_, nullptr, 0);
        child_ = -1;
    }

    std::string ask(const std::string& question)
    {
        if (!to_) return "error stopped before";
        fprintf(to_, "%s\n", question.c_str());
        fflush(to_);
        const std::string reply = line();
        if (!reply.empty()) return reply;
        stop();
        return "error its process ended";
    }

    std::string line()
    {
        std::string text;
        for (int c; (c = std::fgetc(from_)) != EOF && c != '\n';) text += char(c);
        return text;
    }

    const char* name_;
    bool asked_ = false;
    std::string absent_;
    pid_t child_ = -1;
    FILE *to_ = nullptr, *from_ = nullptr;
};

Library pytorch("PyTorch"), compiled("torch.compile"), triton("Triton"), cupy("CuPy"), jax("JAX");

}  // namespace
