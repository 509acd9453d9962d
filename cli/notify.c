/* notify.c - telling systemd how a service gets on.
 *
 * sd_notify(3) is a datagram of lines NAME=VALUE to the socket in NOTIFY_SOCKET, which is a path or, after
 * '@', an abstract name. WATCHDOG_USEC says within which time systemd wants to hear again, and WATCHDOG_PID
 * of whom: twice as often is told. A datagram never waits for its reader: one that cannot be sent, be it
 * while systemd itself is replaced, is tried again with the next call.
 */
#include "notify.h"
#include "output.h"

#include "../server/process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define STATUS_SECONDS 10.0
#define LAST_SAVE_SECONDS 300 /* that systemd waits for one to get on */

static struct {
    int socket; /* -1 while nobody asks */
    struct sockaddr_un address;
    socklen_t length;
    bool watched;                 /* by systemd's watchdog */
    double every;                 /* seconds */
    double told;                  /* when it was last */
    bool ready, ending, stopping; /* the first and the last have been told */
    bool complained;
} service = {.socket = -1};

static void complain_once(const char *reason)
{
    if (!service.complained)
        complain("cannot tell systemd how it gets on: %s", reason);
    service.complained = true;
}

static bool take_address(const char *name)
{
    size_t length = strlen(name);
    if ((*name != '/' && *name != '@') || length < 2 ||
        length >= sizeof service.address.sun_path) {
        complain_once("NOTIFY_SOCKET is no address");
        return false;
    }
    service.address.sun_family = AF_UNIX;
    memcpy(service.address.sun_path, name, length);
    if (*name == '@')
        service.address.sun_path[0] = 0;
    service.length =
        (socklen_t)(sizeof service.address - sizeof service.address.sun_path + length);
    return true;
}

/* A whole number of the environment; 0 when it is none. */
static unsigned long long number_of(const char *name)
{
    const char *text = getenv(name);
    char *end = NULL;
    errno = 0;
    unsigned long long number = text && *text != '-' ? strtoull(text, &end, 10) : 0;
    return end && end > text && !*end && !errno ? number : 0;
}

static void take_watchdog(void)
{
    unsigned long long wanted = number_of("WATCHDOG_USEC");
    bool ours = !getenv("WATCHDOG_PID") ||
                number_of("WATCHDOG_PID") == (unsigned long long)getpid();
    service.watched = wanted > 0 && ours;
    service.every = STATUS_SECONDS;
    if (service.watched && (double)wanted / 2e6 < service.every)
        service.every = (double)wanted / 2e6;
}

void notify_open(void)
{
    static const char *const names[] = {"NOTIFY_SOCKET", "WATCHDOG_USEC",
                                        "WATCHDOG_PID"};
    const char *name = getenv("NOTIFY_SOCKET");
    if (name && *name && take_address(name)) {
        take_watchdog();
        service.socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if (service.socket < 0)
            complain_once(strerror(errno));
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unsetenv(names[i]);
}

bool notify_due(bool ending)
{
    service.ending = service.ending || ending;
    bool news = service.ending ? !service.stopping : !service.ready;
    return service.socket >= 0 &&
           (news || now_seconds() - service.told >= service.every);
}

/* What changes for systemd with this message. */
static const char *change(void)
{
    if (service.ending)
        return service.stopping ? "" : "STOPPING=1\n";
    return service.ready ? "" : "READY=1\n";
}

void notify_tell(const char *status)
{
    char text[512], patience[64] = "";
    if (service.ending)
        snprintf(patience, sizeof patience, "EXTEND_TIMEOUT_USEC=%d000000\n",
                 LAST_SAVE_SECONDS);
    int size = snprintf(text, sizeof text, "%s%s%sSTATUS=%.256s\n", change(), patience,
                        service.watched ? "WATCHDOG=1\n" : "", status);
    if (sendto(service.socket, text, (size_t)size, MSG_DONTWAIT | MSG_NOSIGNAL,
               (const struct sockaddr *)&service.address, service.length) < 0) {
        if (errno != EAGAIN) /* its reader has enough to read just now */
            complain_once(strerror(errno));
        return;
    }
    service.told = now_seconds();
    service.ready = true;
    service.stopping = service.ending;
}
