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
