import COpenSSL

extension TrustAnchors {
    /// Roots in encoded form, decoded when a chain asks for their subject. To decode the 140 roots of a usual system
    /// takes 20 ms and a megabyte, and few are ever needed.
    final class Index: Sendable {
        /// The roots in DER, by the hash of the subject. The settings of PEM's "trusted" certificates may follow the
        /// DER.
        private let anchors: [UInt: [[UInt8]]]
        let count: Int

        /// Skips entries that are not certificates, and duplicates.
        init(_ certificates: [[UInt8]]) {
            var anchors: [UInt: [[UInt8]]] = [:]
            var count = 0
            for certificate in certificates {
                guard let hash = Self.hash(ofSubjectIn: certificate) else { continue }
                guard anchors[hash]?.contains(certificate) != true else { continue }
                anchors[hash, default: []].append(certificate)
                count += 1
            }
            self.anchors = anchors
            self.count = count
        }

        func contains(_ certificate: Certificate) -> Bool {
            let hash = X509_NAME_hash_ex(X509_get_subject_name(certificate.handle), nil, nil, nil)
            guard let candidates = anchors[hash] else { return false }
            let der = certificate.der
            return candidates.contains { $0.starts(with: der) }
        }

        /// All roots that may have this subject, decoded.
        func certificates(named subject: OpaquePointer?) -> [Certificate] {
            (anchors[X509_NAME_hash_ex(subject, nil, nil, nil)] ?? []).compactMap { anchor in
                let decoded = anchor.withUnsafeBufferPointer { bytes in
                    var next = bytes.baseAddress
                    return d2i_X509_AUX(nil, &next, bytes.count)
                }
                ERR_clear_error()
                return decoded.map { Certificate(takingOwnership: $0) }
            }
        }

        /// The hash of the subject. Version, serial number, signature, issuer and validity precede the subject (RFC
        /// 5280 section 4.1).
        private static func hash(ofSubjectIn certificate: [UInt8]) -> UInt? {
            var outer = TrustAnchors.Index.Elements(certificate[...])
            guard var parts = outer.next().map({ TrustAnchors.Index.Elements($0.content) }), let signed = parts.next()
            else {
                return nil
            }
            var fields = TrustAnchors.Index.Elements(signed.content)
            guard let first = fields.next() else { return nil }
            for _ in 0..<(first.tag == 0xA0 ? 4 : 3) where fields.next() == nil { return nil }
            guard let subject = fields.next()?.whole else { return nil }
            guard let name = DistinguishedName(der: Array(subject).span) else { return nil }
            return X509_NAME_hash_ex(name.handle, nil, nil, nil)
        }

        /// The lookup by which a store of OpenSSL asks an `TrustAnchors.Index` for roots that it does not hold yet.
        enum Lookup {
            /// Adds the index to the store. It must live as long as the store.
            static func add(_ index: TrustAnchors.Index, to store: OpaquePointer) -> Bool {
                guard let method, let lookup = X509_STORE_add_lookup(store, method.pointer) else { return false }
                return X509_LOOKUP_set_method_data(lookup, Unmanaged.passUnretained(index).toOpaque()) == 1
            }

            /// Lends the store's own object, which another thread may have added first. The store keeps its objects, so
            /// the reference that `result` takes is released at once: no caller of the method releases it.
            private static func lend(_ subject: OpaquePointer?, of store: OpaquePointer?, to result: OpaquePointer?)
                -> Bool
            {
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
                    let index = Unmanaged<TrustAnchors.Index>.fromOpaque(data).takeUnretainedValue()
                    let store = X509_LOOKUP_get_store(lookup)
                    for certificate in index.certificates(named: subject) {
                        X509_STORE_add_cert(store, certificate.handle)
                    }
                    return lend(subject, of: store, to: result) ? 1 : 0
                }
                return LibraryObject(takingOwnership: method, free: { X509_LOOKUP_meth_free($0) })
            }()
        }

        /// Iterates over the elements of a DER value without a copy, just enough to find a field before the value is
        /// decoded.
        struct Elements {
            struct Element {
                let tag: UInt8
                /// The element with its tag and length.
                let whole: ArraySlice<UInt8>
                let content: ArraySlice<UInt8>
            }

            private var rest: ArraySlice<UInt8>

            init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

            /// Returns nil at the end, and if no element with a short tag and a definite length follows.
            mutating func next() -> Element? {
                guard rest.count >= 2, let tag = rest.first, tag & 0x1F != 0x1F else { return nil }
                var start = rest.startIndex + 2
                var length = Int(rest[rest.startIndex + 1])
                if length >= 0x80 {
                    let octets = length & 0x7F
                    guard (1...4).contains(octets), rest.endIndex - start >= octets else { return nil }
                    length = rest[start..<start + octets].reduce(0) { $0 << 8 | Int($1) }
                    start += octets
                }
                guard rest.endIndex - start >= length else { return nil }
                let end = start + length
                let element = Element(tag: tag, whole: rest[rest.startIndex..<end], content: rest[start..<end])
                rest = rest[end...]
                return element
            }
        }
    }
}
