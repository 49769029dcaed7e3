// Invariant: a header of the PROXY protocol ends at the same place, with other bytes behind it or without. A part of a header
// is no header. A header is not longer than the limit. A malformed beginning stays malformed.
import Bytes

@testable import Proxy

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: min(count, 2 * BalancerHeader.longest)))
    var found: BalancerHeader?
    for end in 0...input.count {
        let reading = BalancerHeader(input.span.extracting(first: end))
        switch (found, reading) {
        case (nil, .incomplete): precondition(end < BalancerHeader.longest, "a header without end")
        case (nil, .complete(let length, _)):
            precondition(length == end, "a header that was complete before")
            found = reading
        case (nil, .malformed): found = reading
        case (let first?, let now): precondition(first == now, "what follows matters")
        }
    }
    return 0
}
