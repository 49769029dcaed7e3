import CGSSAPI
import Synchronization

/// The keys that a keytab file has of one service, in memory: a file that is being written, or is gone, is in nobody's way. Lasts as long as
/// this or a credential that was made with it.
final class MemoryKeytab {
    /// As GSSAPI's credential store wants it.
    let name: String
    private let context: KerberosContext
    private let handle: krb5_keytab

    private static let count = Atomic(0)

    /// Blocks.
    ///
    /// - Throws: also for a file without a key of the service.
    init(copying path: String, of service: String) throws(GSSAPIError) {
        let context = try KerberosContext()
        let library = context.library
        let name = "MEMORY:attache.\(Self.count.add(1, ordering: .relaxed).newValue)"
        var file: krb5_keytab?
        try context.require(library.krb5_kt_resolve(context.handle, "FILE:\(path)", &file), "its name is of no use")
        defer { _ = library.krb5_kt_close(context.handle, file) }
        var made: krb5_keytab?
        let code = library.krb5_kt_resolve(context.handle, name, &made)
        guard code == 0, let made else {
            throw GSSAPIError(.unavailable, "its keys cannot be kept: \(context.words(for: code))")
        }
        (self.context, self.name, handle) = (context, name, made)
        try copy(from: file, of: service)
    }

    deinit { _ = context.library.krb5_kt_close(context.handle, handle) }

    private func copy(from file: krb5_keytab?, of service: String) throws(GSSAPIError) {
        let library = context.library
        var cursor: krb5_kt_cursor?
        try context.require(library.krb5_kt_start_seq_get(context.handle, file, &cursor), "it cannot be read")
        defer { _ = library.krb5_kt_end_seq_get(context.handle, file, &cursor) }
        var (count, total) = (0, 0)
        while true {
            var entry = krb5_keytab_entry()
            let code = library.krb5_kt_next_entry(context.handle, file, &entry, &cursor)
            if Int(code) == Int(KRB5_KT_END) { break }
            try context.require(code, "it cannot be read")
            defer { _ = library.krb5_free_keytab_entry_contents(context.handle, &entry) }
            total += 1
            guard Self.isPrincipal(entry.principal, of: service) else { continue }
            try context.require(library.krb5_kt_add_entry(context.handle, handle, &entry), "its keys cannot be kept")
            count += 1
        }
        guard count > 0 else {
            throw GSSAPIError(.unavailable, total == 0 ? "it has no keys" : "it has no key of a service \(service)/…")
        }
    }

    /// Whether it is named `SERVICE/HOST`, of whatever realm.
    private static func isPrincipal(_ principal: krb5_principal?, of service: String) -> Bool {
        guard let principal, principal.pointee.length == 2, let name = principal.pointee.data,
            let text = name.pointee.data
        else { return false }
        let length = Int(name.pointee.length)
        return text.withMemoryRebound(to: UInt8.self, capacity: length) {
            UnsafeBufferPointer(start: $0, count: length).elementsEqual(service.utf8)
        }
    }
}
