import COpenSSL

/// How a store of OpenSSL asks an `AnchorIndex` for what it does not hold yet.
enum AnchorLookup {
    /// The index must live as long as the store.
    static func add(_ index: AnchorIndex, to store: OpaquePointer) -> Bool {
        guard let method, let lookup = X509_STORE_add_lookup(store, method.pointer) else { return false }
        return X509_LOOKUP_set_method_data(lookup, Unmanaged.passUnretained(index).toOpaque()) == 1
    }

    /// The store's own object, which another thread may have put there first. The store keeps what it holds, so the
    /// reference that `result` takes is given back at once: a caller of the method never does.
    private static func lend(_ subject: OpaquePointer?, of store: OpaquePointer?, to result: OpaquePointer?) -> Bool {
        X509_STORE_lock(store)
        defer { X509_STORE_unlock(store) }
        let held = X509_OBJECT_retrieve_by_subject(X509_STORE_get0_objects(store), X509_LU_X509, subject)
        guard let certificate = X509_OBJECT_get0_X509(held) else { return false }
        guard X509_OBJECT_set1_X509(result, certificate) == 1 else { return false }
        X509_free(certificate)
        return true
    }

    private static let method: LibraryObject? = {
        guard let method = X509_LOOKUP_meth_new("anchors by subject") else { return nil }
        X509_LOOKUP_meth_set_get_by_subject(method) { lookup, kind, subject, result in
            guard kind == X509_LU_X509, let data = X509_LOOKUP_get_method_data(lookup) else { return 0 }
            let index = Unmanaged<AnchorIndex>.fromOpaque(data).takeUnretainedValue()
            let store = X509_LOOKUP_get_store(lookup)
            for certificate in index.certificates(named: subject) { X509_STORE_add_cert(store, certificate.handle) }
            return lend(subject, of: store, to: result) ? 1 : 0
        }
        return LibraryObject(takingOwnership: method, free: { X509_LOOKUP_meth_free($0) })
    }()
}
