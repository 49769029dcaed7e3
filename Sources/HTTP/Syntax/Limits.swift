/// The limits on a peer's message, beyond which it is refused. In bytes unless stated otherwise.
public struct Limits: Sendable, Equatable {
    /// The largest head that can be configured: its offsets have 32 bits.
    public static let largestHead = 1 << 30

    /// The limit of the request line or the status line. Apache allows 8,190, nginx one buffer of 8 KiB; SSO portals
    /// put whole assertions into a URL, hence twice that.
    public var startLine: Int
    /// The limit of the start line and all field lines. HAProxy's buffer is 16 KiB, Node's limit 16 KiB, nginx's 4 × 8
    /// KiB.
    public var head: Int
    /// The number of field lines. Apache allows 100, HAProxy 101, programs with llhttp 128.
    public var fields: Int
    /// The limit of all lines in the trailer section of a chunked body.
    public var trailers: Int
    /// The number of trailer lines.
    public var trailerFields: Int
    /// The limit of a chunk-size line after the digits. hyper and Node allow 16 KiB over a whole body. A relay's work
    /// is linear in the bytes, so here only the line is limited.
    public var chunkExtension: Int
    /// The number of hexadecimal digits of a chunk size, leading zeros included. 16 cannot overflow 64 bits.
    public var chunkSizeDigits: Int

    public init(
        startLine: Int = 16 << 10, head: Int = 64 << 10, fields: Int = 128, trailers: Int = 16 << 10,
        trailerFields: Int = 64, chunkExtension: Int = 1 << 10, chunkSizeDigits: Int = 16
    ) {
        self.startLine = startLine
        self.head = min(head, Self.largestHead)
        self.fields = fields
        self.trailers = trailers
        self.trailerFields = trailerFields
        self.chunkExtension = chunkExtension
        self.chunkSizeDigits = chunkSizeDigits
    }

    /// The limits for messages of clients.
    public static let request = Limits()

    /// The limits for messages of upstreams: a Kerberos ticket with many groups makes a `WWW-Authenticate` of 64 KiB
    /// and more, and applications set one cookie per line.
    public static let response = Limits(head: 256 << 10, fields: 256)
}
