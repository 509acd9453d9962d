/* notify.h - telling systemd how a service gets on, where it has asked for that.
 *
 * It is told when training is ready, now and then that it is alive and how it gets on, and when it is on its
 * way down. Who does not call often enough is restarted (WatchdogSec=), so calls come from where training
 * makes progress or waits for text, and from nowhere else. */
#ifndef NOTIFY_H
#define NOTIFY_H

#include <stdbool.h>

/* Takes what systemd has left in the environment, so that no child finds it there. */
void notify_open(void);

/* Whether it is time to tell something; `ending` once there is nothing more to come but the last save. Never
 * where nobody has asked. */
bool notify_due(bool ending);

/* One line about how it gets on. That it cannot be told is complained about once. */
void notify_tell(const char *status);

#endif
