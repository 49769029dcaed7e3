/// A response during a login, reduced to the parts that the login needs.
public struct LoginPage: Sendable {
    public let status: Int
    /// The value of `Location`.
    public let location: [UInt8]?
    /// The values of `Set-Cookie`, in order.
    public let cookies: [[UInt8]]
    public let contentType: String?
    /// The decoded content as far as it was read; nil if it is not a page.
    public let content: [UInt8]?
    /// Whether the rule recognises the response as one that asks for the login.
    public let isRecognised: Bool

    public init(
        status: Int, location: [UInt8]?, cookies: [[UInt8]], contentType: String?, content: [UInt8]?,
        isRecognised: Bool
    ) {
        self.status = status
        self.location = location
        self.cookies = cookies
        self.contentType = contentType
        self.content = content
        self.isRecognised = isRecognised
    }

    /// Whether the response says that the server does not accept forms: status 415, or 422 with a JSON object that has
    /// a `detail`, as FastAPI sends for content that is not JSON.
    var wantsJSON: Bool {
        if status == 415 { return true }
        guard status == 422, let type = contentType?.lowercased(), type.hasPrefix("application/json"), let content
        else {
            return false
        }
        return String(decoding: content.prefix(4096), as: UTF8.self).contains("\"detail\"")
    }

    var isRedirect: Bool { location != nil && [301, 302, 303, 307, 308].contains(status) }

    /// Whether a form must be sent again to the redirect's target (RFC 9110 section 15.4.8).
    var repeatsMethod: Bool { status == 307 || status == 308 }
}
