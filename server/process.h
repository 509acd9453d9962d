/* process.h - the time, and the memory that this process has; for the command and the server that it carries. */
#ifndef SERVER_PROCESS_H
#define SERVER_PROCESS_H

#include <stdint.h>

double now_seconds(void);   /* of a clock that nobody sets */
double wall_seconds(void);  /* since 1970 */
double spent_seconds(void); /* by this thread on a processor */

/* Memory in use now; 0 where the system does not tell. */
uint64_t resident_bytes(void);

#endif
