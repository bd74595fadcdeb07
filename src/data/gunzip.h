// Gzip in, IDX out, never more than the IDX header announces.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "covey/base/bytes.h"
#include "covey/base/result.h"
#include "data/idx.h"

namespace covey::data {

// Fills a buffer.
// Returns: how many bytes, 0 at the end.
using ReadBytes = std::function<Result<std::size_t>(MutableByteView)>;
// Takes unpacked bytes in order.
using TakeBytes = std::function<Status(ByteView)>;

// Returns whether a file that starts so is gzipped.
bool IsGzip(ByteView start);

// Unpacks the IDX file inside a gzip file (one member or several) into `take`.
//
// Memory: two buffers of fixed size, whatever the file says. `take` sees at most min(limit, size in
//   the header) bytes, so a file that would unpack to terabytes is refused at its first byte too
//   many.
// Errors: kData: damaged or truncated gzip, header as ParseIdxHeader, header above `limit`, fewer
//   or more values than the header says; and what `read` and `take` return.
Result<IdxHeader> GunzipIdx(const ReadBytes& read, const TakeBytes& take, ByteCount limit,
                            const std::string& where);

// Only the header: reads as much as it needs.
Result<IdxHeader> PeekGzippedIdx(const ReadBytes& read, ByteCount limit, const std::string& where);

}  // namespace covey::data
