/* Holds a pod's namespaces: waits for SIGTERM or SIGINT, and reaps adopted processes. */
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t ended;

static void end(int number) {
    (void)number;
    ended = 1;
}

static void reap(int number) {
    int before = errno;
    (void)number;
    while (waitpid(-1, 0, WNOHANG) > 0) {
    }
    errno = before;
}

int main(void) {
    sigset_t all, none;
    struct sigaction action = {.sa_handler = end};
    sigaction(SIGTERM, &action, 0);
    sigaction(SIGINT, &action, 0);
    action.sa_handler = reap;
    sigaction(SIGCHLD, &action, 0);
    /* Signals are delivered only in sigsuspend(), so that none is missed between the check of "ended" and the wait. */
    sigfillset(&all);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &all, 0);
    while (!ended) {
        sigsuspend(&none);
    }
    return 0;
}
