/// The most that a peer may make us hold or count before a message is refused. Bytes, unless said otherwise.
public struct Limits: Sendable, Equatable {
    /// No offset into a head may outgrow 32 bits, whatever is configured.
    public static let largestHead = 1 << 30

    /// Method, target and version, or the status line. Apache allows 8,190, nginx one buffer of 8 KiB; SSO portals
    /// put whole assertions into a URL, hence twice that.
    public var startLine: Int
    /// The start line and all field lines. HAProxy's buffer is 16 KiB, Node's limit 16 KiB, nginx's 4 × 8 KiB.
    public var head: Int
    /// Field lines, counted. Apache allows 100, HAProxy 101, llhttp's embedders 128.
    public var fields: Int
    /// The trailer section of a chunked body, all lines.
    public var trailers: Int
    /// Trailer lines, counted.
    public var trailerFields: Int
    /// Everything on a chunk-size line behind the digits. hyper and Node allow 16 KiB over a whole body; a relay's
    /// work is linear in the bytes anyway, so here the line is bounded.
    public var chunkExtension: Int
    /// Hexadecimal digits of a chunk size, leading zeros included. 16 cannot overflow 64 bits.
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

    /// For what a client sends.
    public static let request = Limits()

    /// For what an upstream sends: a Kerberos ticket with many groups makes a `WWW-Authenticate` of 64 KiB and more,
    /// and applications set a cookie per line.
    public static let response = Limits(head: 256 << 10, fields: 256)
}
