#include "nowhere.h"
void f(void) {}
