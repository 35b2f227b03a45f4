/* A command that warm.py runs: hand it name, folder, arguments and streams, and end as it says. */
#define _GNU_SOURCE /* get_current_dir_name, basename */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void check(int works) {
    if (!works) {
        fputs("the process that runs commands is gone\n", stderr);
        exit(1);
    }
}

int main(int count, char **arguments) {
    char *text;
    size_t size;
    FILE *request = open_memstream(&text, &size);
    fprintf(request, "%s%c%s", basename(arguments[0]), 0, get_current_dir_name());
    for (int i = 1; i < count; i++) fprintf(request, "%c%s", 0, arguments[i]);
    fclose(request);

    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = SERVER};
    int server = socket(AF_UNIX, SOCK_STREAM, 0);
    check(!connect(server, (struct sockaddr *)&address, sizeof address));
    union {
        struct cmsghdr header; /* aligns */
        char bytes[CMSG_SPACE(3 * sizeof(int))];
    } control = {0};
    uint32_t length = size, status;
    struct iovec part = {&length, sizeof length};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1,
        .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    struct cmsghdr *streams = CMSG_FIRSTHDR(&message);
    streams->cmsg_level = SOL_SOCKET;
    streams->cmsg_type = SCM_RIGHTS;
    streams->cmsg_len = CMSG_LEN(3 * sizeof(int));
    memcpy(CMSG_DATA(streams), (int[]){0, 1, 2}, 3 * sizeof(int));
    check(sendmsg(server, &message, 0) == sizeof length);
    for (size_t sent = 0; sent < size;) {
        ssize_t now = write(server, text + sent, size - sent);
        check(now > 0);
        sent += now;
    }
    check(read(server, &status, sizeof status) == sizeof status);
    return status;
}
