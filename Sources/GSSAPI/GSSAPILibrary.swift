import CGSSAPI

/// MIT Kerberos, loaded at its first use.
public enum GSSAPILibrary {
    /// Whether the library is installed.
    public static var isInstalled: Bool { loaded != nil }

    /// A principal with its realm: `alice` becomes `alice@REALM` by the default realm of the configuration.
    ///
    /// - Throws: why it is no principal, or that there is no default realm.
    public static func wholePrincipal(_ name: String) throws(GSSAPIError) -> String {
        let context = try KerberosContext()
        let principal = try context.principal(name)
        defer { context.library.krb5_free_principal(context.handle, principal) }
        return context.name(of: principal)
    }

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

/// An error of Kerberos, with whose fault it is.
public struct GSSAPIError: Error, Sendable, Equatable, CustomStringConvertible {
    public enum Fault: Sendable, Equatable {
        /// The password, key or ticket was judged and refused. Another try fails too.
        case refused
        /// The password, key or ticket was not judged: no KDC answers, a ticket is late, a file is missing. The next
        /// try may succeed.
        case unavailable
        /// Clock skew: the clocks of the two sides differ by more than Kerberos allows. The credential itself was not
        /// judged.
        case clockSkew
        /// The peer's bytes are not a token of an allowed mechanism, or are not expected at this point.
        case defectiveToken
    }

    public let fault: Fault
    /// One sentence, without secrets.
    public let description: String

    public init(_ fault: Fault, _ description: String) {
        self.fault = fault
        self.description = description
    }
}
