/// An attack by one client's HTTP/2 connection (RFC 9113 section 10.5).
public enum Flood: String, CaseIterable, Sendable {
    /// Rapid Reset, CVE-2023-44487.
    case resets
    /// MadeYouReset, CVE-2025-8671.
    case madeResets
    /// CVE-2024-27316.
    case continuations
    /// CVE-2019-9515.
    case settings
    /// CVE-2019-9512.
    case pings
    /// CVE-2019-9518.
    case emptyData
    case windowUpdates
    case priorities
    case unknownFrames
    /// References to a large field of the table, CVE-2016-6581.
    case references
    case crumbs
    case malformedRequests

    /// The number of frames that are no attack.
    private var harmless: Int {
        switch self {
        case .resets: 100
        case .madeResets, .malformedRequests: 50
        case .continuations: 6
        case .settings: 20
        // More than 100 acknowledgements that wait are a flood.
        case .pings: 80
        case .emptyData, .windowUpdates, .priorities, .unknownFrames: 300
        case .references: 10
        case .crumbs: 90
        }
    }

    /// Whether the frames need the stream 1.
    public var needsStream: Bool { self == .emptyData || self == .windowUpdates }

    /// Whether the library's own limit of streams at once comes first.
    public var isEndedByLibrary: Bool { [.madeResets, .malformedRequests].contains(self) }

    /// The frames that the attacker sends next, after `number` such steps.
    public func frames(_ number: Int, _ head: FieldList) -> [UInt8] {
        let stream = UInt32(2 * number + 3)
        switch self {
        case .resets: return Frame.headers(stream, head) + Frame.reset(stream)
        // A window that overflows is an error of the stream (RFC 9113 section 6.9.1).
        case .madeResets: return Frame.headers(stream, head, ends: false) + Frame.grant(stream, 0x7FFF_FFFF)
        case .continuations:
            let block = Frame.block([("x-\(number)", String(repeating: "y", count: 500))])
            return number == 0 ? Frame.bytes(1, 0, 3, Frame.block(head)) : Frame.bytes(9, 0, 3, block)
        case .settings: return Frame.bytes(4, 0, 0, [])
        case .pings: return Frame.bytes(6, 0, 0, [UInt8](repeating: 0, count: 8))
        case .emptyData: return Frame.data(1, "")
        case .windowUpdates: return Frame.grant(1, 1)
        case .priorities: return Frame.bytes(2, 0, 3, [0, 0, 0, 0, 1])
        case .unknownFrames: return Frame.bytes(0x42, 0, 0, [1])
        case .references, .crumbs: return Frame.bytes(1, 5, stream, block(of: 12_000, head))
        case .malformedRequests: return Frame.headers(stream, head + [("connection", "close")])
        }
    }

    /// A field section with that many references to one field (RFC 7541 sections 6.1 and 6.2.1).
    private func block(of count: Int, _ head: FieldList) -> [UInt8] {
        let name = self == .crumbs ? "cookie" : "x-large"
        let value = self == .crumbs ? "a=b" : String(repeating: "v", count: 3900)
        let indexed = [0x40] + Frame.string(name) + Frame.string(value)
        return Frame.block(head) + indexed + [UInt8](repeating: 0x80 | 62, count: count)
    }

    /// The frames that the client sends as the control. It ends with stream 1, or with the stream that is returned.
    public func control(_ head: FieldList) -> (bytes: [UInt8], stream: UInt32) {
        let frames = { (0..<harmless).flatMap { self.frames($0, head) } }
        let last = UInt32(2 * harmless + 3)
        switch self {
        case .continuations: return (frames() + Frame.bytes(9, 4, 3, []) + Frame.data(3, "", ends: true), 3)
        case .references, .crumbs: return (Frame.bytes(1, 5, 3, block(of: harmless, head)), 3)
        case .emptyData, .windowUpdates:
            return (Frame.headers(1, head, ends: false) + frames() + Frame.data(1, "", ends: true), 1)
        case .resets, .madeResets, .settings, .pings, .priorities, .unknownFrames, .malformedRequests:
            return (frames() + Frame.headers(last, head), last)
        }
    }
}
