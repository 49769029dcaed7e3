import Bytes
import COpenSSL

/// One run of OpenSSL's path validation (RFC 5280 section 6) that continues after each problem.
struct PathVerification {
    /// The path from the server's certificate as far as issuers were found.
    private(set) var path: [Certificate] = []
    private(set) var complaints: [Complaint] = []
    /// Whether the path ends in a root.
    private(set) var isAnchored = false
    /// The certificates below the root that no list covers, if lists were given.
    private(set) var unlisted: [Certificate] = []
    /// Whether a root is explicitly distrusted for servers, so that no other path may be tried.
    var isFinal: Bool { complaints.contains { $0.code == X509_V_ERR_CERT_REJECTED } }

    /// - Parameter omitted: certificates to leave out, from the sent ones and the roots.
    init(
        _ chain: PresentedChain, anchors: TrustAnchors, without omitted: [Certificate] = [],
        revocation: RevocationLists?, at time: WallTime
    ) {
        let weakened = chain.weakened
        guard weakened.isEmpty else {
            // No signature is verified: a hostile server chooses such a key to cause work.
            path = [chain.leaf]
            complaints = weakened.map { Complaint(code: X509_V_ERR_CA_KEY_TOO_SMALL, depth: 0, certificate: $0) }
            let code = X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY
            complaints.append(Complaint(code: code, depth: 0, certificate: chain.leaf))
            return
        }
        guard let run = PathVerification.Run(chain, anchors: anchors, without: omitted, at: time) else {
            complaints.append(Complaint(code: X509_V_ERR_OUT_OF_MEM, depth: 0, certificate: chain.leaf))
            return
        }
        let context = run.context
        if let revocation {
            X509_STORE_CTX_set0_crls(context, revocation.handle)
            X509_STORE_CTX_set_flags(context, UInt(X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL))
        }
        X509_STORE_CTX_set_verify_cb(context) { accepted, context in
            guard accepted == 0, let context else { return accepted }
            let run = X509_STORE_CTX_get_ex_data(context, 0)?.assumingMemoryBound(to: PathVerification.self)
            run?.pointee.note(context)
            // With an error left in place OpenSSL would omit others, even a missing root.
            X509_STORE_CTX_set_error(context, X509_V_OK)
            return run == nil ? 0 : 1
        }
        let verdict = withUnsafeMutablePointer(to: &self) { run in
            X509_STORE_CTX_set_ex_data(context, 0, run)
            return X509_verify_cert(context)
        }
        path = run.path
        let error = run.error
        if verdict != 1, !complaints.contains(where: { $0.kind != nil }) {
            let code = error == X509_V_OK ? X509_V_ERR_UNSPECIFIED : error
            complaints.append(Complaint(code: code, depth: 0, certificate: chain.leaf))
        }
        isAnchored = path.last.map { anchors.contains($0) } ?? false
        let end = isAnchored ? path.count - 1 : path.count
        let depths = Set(complaints.filter(\.isUnlisted).map(\.depth))
        unlisted = depths.sorted().filter { $0 < end }.map { path[$0] }
        if isAnchored {
            // Of a root only name and key are used (RFC 5280 section 6.1.1 (d)), and old roots follow old rules. Its
            // limits on issuing, in time and in names, still count.
            complaints.removeAll { $0.depth == path.count - 1 && $0.isOfForm }
        } else if !complaints.contains(where: { $0.deniesAnchor }) {
            let code = X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY
            complaints.append(Complaint(code: code, depth: path.count - 1, certificate: path.last ?? chain.leaf))
        }
    }

    private mutating func note(_ context: OpaquePointer) {
        let certificate = X509_STORE_CTX_get_current_cert(context).map { Certificate(borrowing: $0) }
        var complaint = Complaint(
            code: X509_STORE_CTX_get_error(context), depth: Int(X509_STORE_CTX_get_error_depth(context)),
            certificate: certificate)
        if let list = X509_STORE_CTX_get0_current_crl(context) {
            complaint.listed = RevocationLists.Entry(in: list, of: certificate)
        }
        if complaint.isOfList {
            // At the end of an incomplete path OpenSSL verifies a list with the key of the certificate that the list
            // covers.
            let last = PathVerification.Stack.objects(in: X509_STORE_CTX_get0_chain(context)).count - 1
            complaint.lacksListIssuer = complaint.depth == last && certificate?.isSelfIssued == false
        }
        complaint.isCutOff = complaints.last?.code == X509_V_ERR_CERT_CHAIN_TOO_LONG
        complaints.append(complaint)
    }

    /// A run of OpenSSL's path validation that is ready to begin, with all objects that must live as long.
    struct Run: ~Copyable {
        let context: OpaquePointer
        private let others: PathVerification.Stack
        /// The roots in place of the store's, if one of those is omitted.
        private let trusted: PathVerification.Stack
        private let held: [Certificate]

        /// Nil only without memory.
        ///
        /// - Parameter omitted: certificates to leave out, from the sent ones and the roots.
        init?(_ chain: PresentedChain, anchors: TrustAnchors, without omitted: [Certificate], at time: WallTime) {
            let sent = chain.others.filter { !omitted.contains($0) }
            let lacksAnchor = omitted.contains(where: anchors.contains)
            held = lacksAnchor ? anchors.certificates(for: chain).filter { !omitted.contains($0) } : []
            guard let context = X509_STORE_CTX_new() else { return nil }
            guard let others = PathVerification.Stack(sent.map(\.handle)),
                let trusted = PathVerification.Stack(held.map(\.handle)),
                X509_STORE_CTX_init(context, anchors.handle, chain.leaf.handle, others.pointer) == 1
            else {
                X509_STORE_CTX_free(context)
                return nil
            }
            X509_STORE_CTX_set_time(context, 0, time_t(time.seconds))
            if lacksAnchor { X509_STORE_CTX_set0_trusted_stack(context, trusted.pointer) }
            self.context = context
            self.others = others
            self.trusted = trusted
        }

        deinit {
            X509_STORE_CTX_free(context)
            ERR_clear_error()
        }

        /// The path of the run: the peer's certificate, then issuers as far as they were found.
        var path: [Certificate] {
            PathVerification.Stack.objects(in: X509_STORE_CTX_get0_chain(context)).map { Certificate(borrowing: $0) }
        }

        /// The result of the run: `X509_V_OK`, or the error.
        var error: Int32 { X509_STORE_CTX_get_error(context) }
    }

    /// A `STACK_OF(…)` of objects that belong to others: only the stack is freed.
    struct Stack: ~Copyable {
        let pointer: OpaquePointer

        /// Nil only without memory.
        init?(_ objects: [OpaquePointer]) {
            guard let stack = OPENSSL_sk_new_reserve(nil, Int32(clamping: objects.count)) else { return nil }
            pointer = stack
            for object in objects { OPENSSL_sk_push(stack, UnsafeRawPointer(object)) }
        }

        deinit { OPENSSL_sk_free(pointer) }

        /// The objects of a borrowed stack.
        static func objects(in stack: OpaquePointer?) -> [OpaquePointer] {
            (0..<max(0, OPENSSL_sk_num(stack))).compactMap { OPENSSL_sk_value(stack, $0).map { OpaquePointer($0) } }
        }
    }
}
