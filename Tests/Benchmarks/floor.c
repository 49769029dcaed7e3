// The least that a tunnel can cost, for `bench`: a relay that only splices, on one thread. `floor FILE`: the file has
// the port to listen on and the origin's.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { pipe_size = 1 << 20, most_events = 64 };

struct side {
    int descriptor;
    // What comes from this side and has not gone to the other yet.
    int pipe[2];
    size_t held;
    int has_ended;
    struct side *other;
};

static struct sockaddr_in loopback(uint16_t port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

// Moves bytes from `side` to the other until one of the two would block. Returns whether more can come.
static int relay(struct side *side) {
    const unsigned flags = SPLICE_F_MOVE | SPLICE_F_NONBLOCK;
    while (1) {
        while (side->held > 0) {
            ssize_t sent = splice(side->pipe[0], NULL, side->other->descriptor, NULL, side->held, flags);
            if (sent < 0) return errno == EAGAIN;
            side->held -= (size_t)sent;
        }
        if (side->has_ended) return 0;
        ssize_t received = splice(side->descriptor, NULL, side->pipe[1], NULL, pipe_size, flags);
        if (received < 0) return errno == EAGAIN;
        if (received == 0) side->has_ended = 1;
        side->held += (size_t)received;
    }
}

static void watch(int epoll, struct side *side) {
    int one = 1;
    setsockopt(side->descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (pipe2(side->pipe, O_NONBLOCK | O_CLOEXEC) != 0) exit(1);
    (void)fcntl(side->pipe[1], F_SETPIPE_SZ, pipe_size);
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = side};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, side->descriptor, &event) != 0) exit(1);
}

static void open_tunnel(int epoll, int client, const struct sockaddr_in *origin) {
    int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (server < 0 || connect(server, (const struct sockaddr *)origin, sizeof *origin) != 0) exit(1);
    (void)fcntl(server, F_SETFL, O_NONBLOCK);
    struct side *sides = calloc(2, sizeof *sides);
    if (sides == NULL) exit(1);
    sides[0] = (struct side){.descriptor = client, .other = &sides[1]};
    sides[1] = (struct side){.descriptor = server, .other = &sides[0]};
    watch(epoll, &sides[0]);
    watch(epoll, &sides[1]);
}

// The sides stay in memory, since the same batch of events may name the other one. The next tunnel has others.
static void close_tunnel(struct side *side) {
    struct side *both[] = {side, side->other};
    for (int place = 0; place < 2; place++) {
        if (both[place]->descriptor < 0) continue;
        close(both[place]->descriptor);
        close(both[place]->pipe[0]);
        close(both[place]->pipe[1]);
        both[place]->descriptor = -1;
    }
}

int main(int count, char **arguments) {
    FILE *file = count == 2 ? fopen(arguments[1], "r") : NULL;
    uint16_t port, origin_port;
    if (file == NULL || fscanf(file, "%hu %hu", &port, &origin_port) != 2) return 2;
    fclose(file);
    signal(SIGPIPE, SIG_IGN);
    struct sockaddr_in own = loopback(port), origin = loopback(origin_port);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), epoll = epoll_create1(0), one = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener, (struct sockaddr *)&own, sizeof own) != 0 || listen(listener, 1024) != 0) return 1;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event) != 0) return 1;
    while (1) {
        struct epoll_event events[most_events];
        int ready = epoll_wait(epoll, events, most_events, -1);
        for (int place = 0; place < ready; place++) {
            struct side *side = events[place].data.ptr;
            if (side == NULL) {
                int client = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
                if (client >= 0) open_tunnel(epoll, client, &origin);
            } else if (side->descriptor >= 0 && (!relay(side) || !relay(side->other))) {
                close_tunnel(side);
            }
        }
    }
}
