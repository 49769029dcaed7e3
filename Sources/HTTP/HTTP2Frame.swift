import Bytes

/// The frames of HTTP/2 (RFC 9113 section 4.1), as far as they tell that a server speaks nothing else.
enum HTTP2Frame {
    private static let settings: UInt8 = 4
    private static let goAway: UInt8 = 7

    /// Whether the bytes begin with a frame that a server sends first: SETTINGS (section 3.4), or GOAWAY for want of a
    /// preface. Nil when more bytes are needed to tell.
    static func begins(_ bytes: Span<UInt8>) -> Bool? {
        // Neither is longer than 64 KiB. Behind the length: the type, and stream 0.
        let places = [0: 0, 5: 0, 6: 0, 7: 0, 8: 0] as KeyValuePairs<Int, UInt8>
        for (place, value) in places where place < bytes.count && bytes[place] != value { return false }
        if bytes.count > 3, bytes[3] != settings, bytes[3] != goAway { return false }
        return bytes.count < 9 ? nil : true
    }
}
