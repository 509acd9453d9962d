/* systemd_notify.h - reports the state of a service to systemd, if it asks for that.
 *
 * systemd is notified when training is ready, then regularly that it is alive and how
 * it progresses, and when it shuts down. With WatchdogSec= systemd restarts a service
 * that does not notify it often enough, so these functions are called only where
 * training makes progress or waits for text. */
#ifndef SYSTEMD_NOTIFY_H
#define SYSTEMD_NOTIFY_H

#include <stdbool.h>

/* Reads systemd's variables and removes them from the environment, so that no child
 * process inherits them. */
void systemd_open(void);

/* Whether a notification is due. `ending` says that only the last save is left to do.
 * Always false if systemd expects no notifications. */
bool systemd_is_due(bool ending);

/* Sends a notification with one line of status. The first failure is logged. */
void systemd_notify(const char *status);

#endif
