// A setuid program: prints the user that it has become. With "raw", opens a raw socket, which needs a capability.
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int main(int count, char **words) {
    if (count > 1 && strcmp(words[1], "raw") == 0) {
        int opened = socket(AF_INET, SOCK_RAW, 6);
        if (opened < 0) perror("raw socket");
        return opened < 0;
    }
    if (setuid(0) != 0) perror("setuid");
    printf("user %d, effective user %d\n", getuid(), geteuid());
    return geteuid() != 0;
}
