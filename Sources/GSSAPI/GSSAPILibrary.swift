import CGSSAPI

/// MIT Kerberos, loaded at its first use.
public enum GSSAPILibrary {
    /// Whether it is installed here.
    public static var isInstalled: Bool { loaded != nil }

    static func load() throws(GSSAPIError) -> kerberos_library {
        guard let loaded else {
            throw GSSAPIError(
                .unavailable, "MIT Kerberos is not installed here (libgssapi_krb5.so.2, Debian's libgssapi-krb5-2)")
        }
        return loaded
    }

    private static let loaded: kerberos_library? = {
        var table = kerberos_library()
        return kerberos_library_load(&table) ? table : nil
    }()
}

/// Why Kerberos would not do something, and whose fault that is.
public struct GSSAPIError: Error, Sendable, Equatable, CustomStringConvertible {
    public enum Fault: Sendable, Equatable {
        /// The password, key or ticket was looked at, and is no good. It will not be better the next time.
        case refused
        /// Nothing was said about the password, key or ticket: no KDC answers, a ticket is late, a file is not there. The
        /// next time may go well.
        case unavailable
        /// Nor was it here: the clocks of the two sides differ by more than Kerberos puts up with.
        case clockSkew
        /// The peer's bytes are no token of a mechanism that is allowed here, or make no sense at this point.
        case defectiveToken
    }

    public let fault: Fault
    /// One sentence, without anything secret.
    public let description: String

    public init(_ fault: Fault, _ description: String) {
        self.fault = fault
        self.description = description
    }
}
