import Bytes
import CGSSAPI
import Glibc

/// The tickets of one principal, in the memory of this process only, destroyed with the last reference. Every call
/// blocks, some as long as a KDC takes: do not call them on a loop.
public final class TicketCache: Sendable {
    /// A ticket in the cache.
    public struct Ticket: Sendable, Hashable {
        /// The service's full name, with the realm.
        public let name: String
        /// The validity.
        public let validity: Range<WallTime>
    }

    /// The principal's full name.
    public let principal: String
    /// The validity of the ticket-granting ticket.
    public let validity: Range<WallTime>
    /// The name for GSSAPI's credential store.
    let name: String

    /// The realm of a principal; the configuration's if its name has none; empty if it is unknown. Blocks.
    public static func realm(of principal: String) -> String {
        guard let context = try? KerberosContext(), let parsed = try? context.principal(principal) else { return "" }
        defer { context.library.krb5_free_principal(context.handle, parsed) }
        let name = context.name(of: parsed)
        return name.lastIndex(of: "@").map { String(name[name.index(after: $0)...]) } ?? ""
    }

    /// Requests a ticket from the KDC with the principal's key in a keytab.
    public static func acquire(_ principal: String, keytab path: String) throws(GSSAPIError) -> TicketCache {
        let context = try KerberosContext()
        let library = context.library
        let client = try context.principal(principal)
        defer { library.krb5_free_principal(context.handle, client) }
        var keytab: krb5_keytab?
        try context.require(library.krb5_kt_resolve(context.handle, "FILE:\(path)", &keytab), "the keytab \(path)")
        defer { _ = library.krb5_kt_close(context.handle, keytab) }
        var credentials = krb5_creds()
        let code = library.krb5_get_init_creds_keytab(
            context.handle, &credentials, client, keytab, 0, nil, nil)
        guard code == 0 else {
            let name = context.name(of: client)
            throw context.initialFailure(code, principal: name, proof: "the key of \(name) in \(path)")
        }
        defer { library.krb5_free_cred_contents(context.handle, &credentials) }
        return try TicketCache(client, holding: &credentials, in: context)
    }

    /// Requests a ticket from the KDC with a password.
    public static func acquire(_ principal: String, password: Span<UInt8>) throws(GSSAPIError) -> TicketCache {
        let context = try KerberosContext()
        let library = context.library
        let client = try context.principal(principal)
        defer { library.krb5_free_principal(context.handle, client) }
        let text = UnsafeMutablePointer<CChar>.allocate(capacity: password.count + 1)
        for index in 0..<password.count { text[index] = CChar(truncatingIfNeeded: password[index]) }
        text[password.count] = 0
        defer {
            explicit_bzero(text, password.count)
            text.deallocate()
        }
        guard strlen(text) == password.count else {
            throw GSSAPIError(.refused, "Kerberos takes no password with a zero byte")
        }
        var credentials = krb5_creds()
        let code = library.krb5_get_init_creds_password(
            context.handle, &credentials, client, text, nil, nil, 0, nil, nil)
        guard code == 0 else {
            let name = context.name(of: client)
            throw context.initialFailure(code, principal: name, proof: "the password of \(name)")
        }
        defer { library.krb5_free_cred_contents(context.handle, &credentials) }
        return try TicketCache(client, holding: &credentials, in: context)
    }

    /// Copies the tickets of a cache that another program keeps current. The cache itself stays unchanged.
    ///
    /// - Parameters:
    ///   - name: the cache's name with its type, such as `FILE:/tmp/krb5cc_1000`. If it is another principal's cache in a
    ///     collection, the principal's own one is used.
    ///   - path: the cache's name in errors.
    public static func copy(
        _ principal: String, cache name: String, shownAs path: String
    ) throws(GSSAPIError) -> TicketCache {
        let context = try KerberosContext()
        let library = context.library
        let client = try context.principal(principal)
        defer { library.krb5_free_principal(context.handle, client) }
        let file = try context.cache(of: client, named: name, shownAs: path)
        defer { _ = library.krb5_cc_close(context.handle, file) }
        guard let validity = try context.validity(of: file, at: path) else {
            throw GSSAPIError(.unavailable, "the ticket cache \(path) has no ticket-granting ticket: run kinit")
        }
        return try TicketCache(client, copying: file, validity: validity, in: context)
    }

    private init(
        _ client: krb5_principal, holding credentials: inout krb5_creds, in context: KerberosContext
    ) throws(GSSAPIError) {
        let cache = try context.makeCache(for: client)
        defer { _ = context.library.krb5_cc_close(context.handle, cache) }
        name = context.cacheName(cache)
        principal = context.name(of: client)
        validity = credentials.times.validity
        let code = context.library.krb5_cc_store_cred(context.handle, cache, &credentials)
        try context.require(code, "the ticket cannot be kept")
    }

    private init(
        _ client: krb5_principal, copying file: krb5_ccache?, validity: Range<WallTime>,
        in context: KerberosContext
    ) throws(GSSAPIError) {
        let cache = try context.makeCache(for: client)
        defer { _ = context.library.krb5_cc_close(context.handle, cache) }
        name = context.cacheName(cache)
        principal = context.name(of: client)
        self.validity = validity
        try context.require(
            context.library.krb5_cc_copy_creds(context.handle, file, cache), "the tickets cannot be kept")
    }

    deinit {
        guard let context = try? KerberosContext() else { return }
        var cache: krb5_ccache?
        if context.library.krb5_cc_resolve(context.handle, name, &cache) == 0 {
            _ = context.library.krb5_cc_destroy(context.handle, cache)
        }
    }

    /// The ticket for a service: from the cache, else from the KDC.
    public func ticket(for service: ServiceName) throws(GSSAPIError) -> Ticket {
        let context = try KerberosContext()
        let library = context.library
        let wanted = service.principalName(in: context)
        let server = try context.principal(wanted)
        defer { library.krb5_free_principal(context.handle, server) }
        let client = try context.principal(principal)
        defer { library.krb5_free_principal(context.handle, client) }
        var cache: krb5_ccache?
        try context.require(library.krb5_cc_resolve(context.handle, name, &cache), "the tickets cannot be found")
        defer { _ = library.krb5_cc_close(context.handle, cache) }
        var request = krb5_creds()
        request.client = client
        request.server = server
        var granted: UnsafeMutablePointer<krb5_creds>?
        let code = library.krb5_get_credentials(context.handle, 0, cache, &request, &granted)
        guard code == 0, let granted else {
            throw context.serviceFailure(code, service: wanted, principal: principal)
        }
        defer { library.krb5_free_creds(context.handle, granted) }
        return Ticket(
            name: context.name(of: granted.pointee.server), validity: granted.pointee.times.validity)
    }

    /// Removes a ticket, so that the next one comes from the KDC: the service may have a new key.
    public func forget(_ ticket: Ticket) {
        guard let context = try? KerberosContext() else { return }
        let library = context.library
        var cache: krb5_ccache?
        guard library.krb5_cc_resolve(context.handle, name, &cache) == 0 else { return }
        defer { _ = library.krb5_cc_close(context.handle, cache) }
        guard let server = try? context.principal(ticket.name) else { return }
        defer { library.krb5_free_principal(context.handle, server) }
        var pattern = krb5_creds()
        pattern.server = server
        _ = library.krb5_cc_remove_cred(context.handle, cache, 0, &pattern)
    }
}

extension KerberosContext {
    /// The error for a principal that the KDC gave no ticket.
    ///
    /// - Parameter proof: the password or the key, with its principal.
    fileprivate func initialFailure(_ code: krb5_error_code, principal: String, proof: String) -> GSSAPIError {
        switch Int(code) {
        // The last code results from a wrong key if the KDC requires no preauthentication.
        case Int(KRB5KDC_ERR_PREAUTH_FAILED), Int(KRB5KRB_AP_ERR_BAD_INTEGRITY):
            GSSAPIError(.refused, "the KDC refused \(proof)")
        case Int(KRB5KDC_ERR_KEY_EXP): GSSAPIError(.refused, "the KDC says that \(proof) has expired")
        case Int(KRB5KDC_ERR_CLIENT_REVOKED): GSSAPIError(.refused, "the KDC has locked or disabled \(principal)")
        case Int(KRB5KDC_ERR_NAME_EXP):
            GSSAPIError(.refused, "the KDC says that the account \(principal) has expired")
        case Int(KRB5KDC_ERR_C_PRINCIPAL_UNKNOWN): GSSAPIError(.refused, "the KDC knows no principal \(principal)")
        case Int(KRB5_KT_NOTFOUND), Int(KRB5_KT_KVNONOTFOUND):
            GSSAPIError(.unavailable, "the KDC accepts no key of the kind of \(proof)")
        default: failure(code, principal: principal)
        }
    }

    /// The error for a principal that has a ticket-granting ticket, and that the KDC gave no service ticket.
    ///
    /// - Parameter service: the name of the service's principal; its realm may be empty.
    fileprivate func serviceFailure(_ code: krb5_error_code, service: String, principal: String) -> GSSAPIError {
        let service = service.hasSuffix("@") ? String(service.dropLast()) : service
        return switch Int(code) {
        case Int(KRB5KDC_ERR_S_PRINCIPAL_UNKNOWN): GSSAPIError(.unavailable, "the KDC knows no service \(service)")
        case Int(KRB5KRB_AP_ERR_TKT_EXPIRED), Int(KRB5KDC_ERR_NEVER_VALID):
            GSSAPIError(.unavailable, "the ticket of \(principal) has expired")
        default: failure(code, principal: principal)
        }
    }
}
