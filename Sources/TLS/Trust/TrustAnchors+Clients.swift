import COpenSSL

extension TrustAnchors {
    /// Whether a client's chain leads to one of these anchors (RFC 5280 section 6) by certificates that may prove clients.
    /// Names are not looked at: whom it names is for the caller to read.
    ///
    /// - Parameter seconds: since 1970.
    public func vouch(forClient chain: PresentedChain, at seconds: Int) -> Bool {
        guard chain.omitted == 0, let context = X509_STORE_CTX_new(),
            let others = ObjectStack(chain.others.map(\.handle))
        else { return false }
        defer {
            X509_STORE_CTX_free(context)
            ERR_clear_error()
        }
        guard X509_STORE_CTX_init(context, handle, chain.leaf.handle, others.pointer) == 1,
            let parameters = X509_STORE_CTX_get0_param(context)
        else { return false }
        X509_VERIFY_PARAM_set_purpose(parameters, X509_PURPOSE_SSL_CLIENT)
        X509_VERIFY_PARAM_set_trust(parameters, X509_TRUST_SSL_CLIENT)
        // Of these anchors somebody has said, by name, that they make clients: authorities of one's own making often lack
        // what RFC 5280 wants in theirs, and section 6 does not look at it.
        X509_VERIFY_PARAM_clear_flags(parameters, UInt(X509_V_FLAG_X509_STRICT))
        X509_STORE_CTX_set_time(context, 0, time_t(seconds))
        return X509_verify_cert(context) == 1
    }
}
