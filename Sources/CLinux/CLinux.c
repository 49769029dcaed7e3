#define _GNU_SOURCE
#include "CLinux.h"

#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

__thread void *linux_current_loop = NULL;

static int argument_count;
static char **arguments;

// The C library calls a constructor as it calls main. Swift looks for the arguments in front of `environ` instead, where
// they are no more once a preloaded library has called setenv.
__attribute__((constructor)) static void keep_arguments(int count, char **values) {
    argument_count = count;
    arguments = values;
}

const char *linux_argument(int place) {
    return place >= 0 && place < argument_count ? arguments[place] : NULL;
}

// LeakSanitizer's, where the program is built with it; it looks for leaks at the usual end alone.
extern void __lsan_do_leak_check(void) __attribute__((weak));

void linux_end(int status) {
    if (__lsan_do_leak_check) __lsan_do_leak_check();
    _exit(status);
}

int linux_accept(int descriptor, struct sockaddr *address, socklen_t *length) {
    int accepted = accept4(descriptor, address, length, SOCK_NONBLOCK | SOCK_CLOEXEC);
    return accepted >= 0 ? accepted : -errno;
}

int linux_peer(int descriptor, uid_t *user, pid_t *process) {
    struct ucred peer;
    socklen_t length = sizeof peer;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return -errno;
    *user = peer.uid;
    *process = peer.pid;
    return 0;
}

ssize_t linux_receive(int descriptor, void *bytes, size_t count) {
    long received = syscall(SYS_recvfrom, descriptor, bytes, count, 0, NULL, NULL);
    return received < 0 ? -errno : received;
}

ssize_t linux_send(int descriptor, const void *bytes, size_t count) {
    long sent = syscall(SYS_sendto, descriptor, bytes, count, MSG_NOSIGNAL, NULL, 0);
    return sent < 0 ? -errno : sent;
}

int linux_wait(int epoll, struct epoll_event *events, int count, int limit) {
    long ready = syscall(SYS_epoll_pwait, epoll, events, count, limit, NULL, 0);
    return ready < 0 ? -errno : (int)ready;
}

ssize_t linux_splice(int from, int to, size_t count, bool more) {
    ssize_t moved = splice(from, NULL, to, NULL, count,
                           SPLICE_F_MOVE | SPLICE_F_NONBLOCK | (more ? SPLICE_F_MORE : 0));
    return moved >= 0 ? moved : -errno;
}

// An unprivileged user has a total limit on pipe pages: a pipe that stays small is still a pipe.
int linux_pipe(int descriptors[2], int size) {
    if (pipe2(descriptors, O_NONBLOCK | O_CLOEXEC) != 0) return -errno;
    (void)fcntl(descriptors[1], F_SETPIPE_SZ, size);
    int actual = fcntl(descriptors[1], F_GETPIPE_SZ);
    return actual > 0 ? actual : 65536;
}

// O_TMPFILE leaves no name to clean up; file systems without it get a name that is unlinked at once.
int linux_temporary_file(const char *directory) {
    int descriptor = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (descriptor >= 0) return descriptor;
    char path[4096];
    int length = 0;
    while (directory[length] != 0) {
        if (length == 4000) return -ENAMETOOLONG;
        path[length] = directory[length];
        length++;
    }
    const char suffix[] = "/attache-XXXXXX";
    for (unsigned i = 0; i < sizeof suffix; i++) path[length + (int)i] = suffix[i];
    descriptor = mkostemp(path, O_CLOEXEC);
    if (descriptor < 0) return -errno;
    (void)unlink(path);
    return descriptor;
}

int linux_processor_count(void) {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

void linux_name_thread(const char *name) { (void)pthread_setname_np(pthread_self(), name); }

void linux_error_text(int error, char *room, size_t size) {
    const char *text = strerror_r(error, room, size);
    if (text != room) snprintf(room, size, "%s", text);
}

int linux_open_spare(void) { return open("/dev/null", O_RDONLY | O_CLOEXEC); }

int linux_spawn_close_from(posix_spawn_file_actions_t *actions, int descriptor) {
    return posix_spawn_file_actions_addclosefrom_np(actions, descriptor);
}

// Only this thread's own system calls may follow vfork, which runs on its stack and memory until the program starts.
static void become(const char *program, char *const words[], char *const environment[], const int streams[3]) {
    struct sigaction usual = {.sa_handler = SIG_DFL};
    for (int number = 1; number < NSIG; number++) sigaction(number, &usual, NULL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    struct rlimit no_core = {0, 0}, files;
    setrlimit(RLIMIT_CORE, &no_core);
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        if (files.rlim_max > 1024) files.rlim_max = 1024;
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    for (int number = 0; number < 3; number++) {
        if (dup2(streams[number], number) < 0) return;
    }
    // close_range(2), where the kernel has it: all other descriptors are marked to close on exec.
    syscall(SYS_close_range, 3U, ~0U, 0U);
    execve(program, words, environment);
}

int linux_start_helper(
    const char *program, char *const words[], char *const environment[], const int streams[3], pid_t *process) {
    pid_t parent = getpid();
    volatile int failure = 0;
    sigset_t all, former;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &former);
    pid_t child = vfork();
    if (child == 0) {
        // The signal comes at the end of the thread that started the program, or of the process.
        if (setsid() < 0 || prctl(PR_SET_PDEATHSIG, (unsigned long)SIGKILL, 0UL, 0UL, 0UL) != 0) {
            failure = errno;
        } else if (getppid() == parent) {
            become(program, words, environment, streams);
            failure = errno;
        }
        _exit(127);
    }
    int error = errno;
    pthread_sigmask(SIG_SETMASK, &former, NULL);
    if (child < 0) return -error;
    if (failure != 0) {
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
        }
        return -failure;
    }
    *process = child;
    return 0;
}

int linux_open_process(pid_t process) {
    int descriptor = (int)syscall(SYS_pidfd_open, process, 0U);
    return descriptor >= 0 ? descriptor : -errno;
}

bool linux_has_ended(pid_t process) {
    siginfo_t news = {0};
    return waitid(P_PID, (id_t)process, &news, WEXITED | WNOHANG | WNOWAIT) == 0 && news.si_pid == process;
}

int linux_memory_file(void) {
    int descriptor = memfd_create("input", MFD_CLOEXEC);
    return descriptor >= 0 ? descriptor : -errno;
}

int linux_set_dumpable(bool dumpable) {
    return prctl(PR_SET_DUMPABLE, dumpable ? 1L : 0L, 0L, 0L, 0L) == 0 ? 0 : -errno;
}

void linux_measure_heaps(size_t *used, size_t *unused) {
    struct mallinfo2 all = mallinfo2();
    *used = all.uordblks;
    *unused = all.fordblks;
}

void linux_trim_heaps(void) { (void)malloc_trim(0); }
