// The compiler wants a source beside a header that it is to read beforehand.
#include "precompiled.h"
