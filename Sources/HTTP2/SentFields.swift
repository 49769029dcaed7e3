import Bytes
import CNghttp2
import HTTP

/// The field section that is handed to the library next. The library copies it, and writes its names in lower case. One object
/// serves a connection's whole life, so that a further section allocates little.
final class SentFields {
    /// Memory for the fields as the library wants them. A value without an address is the next part of `values`.
    private var list = UnsafeMutableBufferPointer<nghttp2_nv>.allocate(capacity: 32)
    private var count = 0
    /// The values that `add` was not lent, one behind the other.
    private let values = ByteBuffer(capacity: 64)

    deinit { list.deallocate() }

    /// Adds a field of a head or a trailer section. No table of the connection keeps a secret one. The value must stay where it
    /// is until the section is handed over, and so must a name that is not known.
    func add(_ field: Field, in bytes: Span<UInt8>, isSecret: Bool = false) {
        let known = field.known
        let isSecret = isSecret || FieldSet.secret.contains(known)
        let constant = known.name?.bytes
        bytes.withUnsafeBufferPointer { bytes in
            let name = constant ?? UnsafeBufferPointer(rebasing: bytes[field.name])
            let value = UnsafeBufferPointer(rebasing: bytes[field.value])
            add(name, value.baseAddress, value.count, isSecret: isSecret, isConstant: constant != nil)
        }
    }

    /// Adds a field whose name is in lower case. The value must stay where it is until the section is handed over.
    func add(_ name: StaticString, _ value: Span<UInt8>) {
        value.withUnsafeBufferPointer { value in
            add(name.bytes, value.baseAddress, value.count, isSecret: false, isConstant: true)
        }
    }

    /// Adds a field whose name is in lower case.
    func add(_ name: StaticString, _ value: StaticString) {
        add(name.bytes, value.utf8Start, value.utf8CodeUnitCount, isSecret: false, isConstant: true)
    }

    /// Adds a field whose value `write` appends to the buffer. The name is in lower case.
    func add(_ name: StaticString, write: (ByteBuffer) -> Void) {
        let start = values.count
        write(values)
        add(name.bytes, nil, values.count - start, isSecret: false, isConstant: true)
    }

    /// - Parameter isConstant: whether the name needs no copy, because it is in lower case and stays where it is.
    private func add(
        _ name: UnsafeBufferPointer<UInt8>, _ value: UnsafePointer<UInt8>?, _ length: Int, isSecret: Bool,
        isConstant: Bool
    ) {
        if count == list.count { grow() }
        let index = isSecret ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE
        let copy = isConstant ? NGHTTP2_NV_FLAG_NO_COPY_NAME : NGHTTP2_NV_FLAG_NONE
        // The library changes nothing.
        list[count] = nghttp2_nv(
            name: UnsafeMutablePointer(mutating: name.baseAddress), value: UnsafeMutablePointer(mutating: value),
            namelen: name.count, valuelen: length, flags: UInt8(index.rawValue | copy.rawValue))
        count += 1
    }

    private func grow() {
        let larger = UnsafeMutableBufferPointer<nghttp2_nv>.allocate(capacity: 2 * list.count)
        _ = larger.initialize(fromContentsOf: list)
        list.deallocate()
        list = larger
    }

    /// Adds the lines of a trailer section.
    func add(lines: ByteBuffer) {
        let bytes = lines.readable
        var start = 0
        while let end = bytes.firstIndex(of: .carriageReturn, from: start) {
            if let field = try? Field(bytes, line: start..<end) { add(field, in: bytes) }
            start = min(end + 2, bytes.count)
        }
    }

    /// Lends the section as the library wants it, and empties it.
    func handOver(_ body: (UnsafeBufferPointer<nghttp2_nv>) -> Int32) -> Int32 {
        defer {
            count = 0
            values.clear()
        }
        let result = values.withReadable { bytes in
            var next = UnsafeMutableRawPointer(mutating: bytes.baseAddress)?.assumingMemoryBound(to: UInt8.self)
            for place in 0..<count where list[place].value == nil {
                list[place].value = next
                next? += list[place].valuelen
            }
            return Int(body(UnsafeBufferPointer(rebasing: list[..<count])))
        }
        return Int32(clamping: result)
    }
}

extension StaticString {
    fileprivate var bytes: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: utf8Start, count: utf8CodeUnitCount)
    }
}
