/* export.h - the model as a file in a format of other programs. Private. */
#ifndef SERVER_EXPORT_H
#define SERVER_EXPORT_H

#include "server.h"

typedef struct exporter exporter;

exporter *exporter_open(server *s);
void exporter_close(exporter *x); /* answers what waits; refuses the rest */
void exporter_free(exporter *x);  /* after the last download has ended */

#endif
