import Bytes

/// The authority that was read last. Most requests name the server of the previous request, whose authority then need
/// not be checked again.
struct RecentAuthority {
    private let text = ByteBuffer(capacity: 64)
    private var form = Authority.HostForm.name
    /// The length of the host, which is at the front of `text`.
    private var hostCount = 0
    private var port: UInt16?

    /// The authority between `start` and the path, the query or `end`, if it equals the last one.
    func read(_ bytes: Span<UInt8>, from start: Int, to end: Int) -> Authority? {
        let text = text
        let next = start &+ text.count
        guard hostCount > 0, next <= end, bytes.beginsPath(at: next, or: end),
            bytes.extracting(start..<next).equals(text.readable)
        else { return nil }
        return Authority(form: form, text: start..<next, host: start..<start &+ hostCount, explicitPort: port)
    }

    /// Remembers an authority that was read: a host name or dotted quad with or without a port, all of it.
    mutating func remember(_ authority: Authority, of bytes: Span<UInt8>) {
        text.clear()
        text.append(bytes.extracting(authority.text))
        form = authority.form
        hostCount = authority.host.count
        port = authority.explicitPort
    }
}

extension Span<UInt8> {
    /// Whether the authority of a target ends there (RFC 3986 section 3.2).
    func beginsPath(at offset: Int, or end: Int) -> Bool {
        offset == end || self[offset] == .slash || self[offset] == UInt8(ascii: "?")
    }
}
