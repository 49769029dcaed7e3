import Bytes
import COpenSSL
import Model

@testable import TLS

/// One chain, what is expected of it, and what OpenSSL alone says.
struct TrustCase: Sendable, CustomStringConvertible {
    let what: String
    let expected: TrustFindings
    /// The section because of which this is refused although OpenSSL accepts it.
    let stricter: String?
    /// The section because of which this is accepted although OpenSSL's strict checks refuse it; without them it does not.
    let looser: String?
    /// The section because of which this is accepted although the first path that OpenSSL finds fails: it accepts the path
    /// that is found when nothing else is sent.
    let others: String?
    let make: @Sendable () throws -> Scene

    struct Scene {
        var leaf: TestCertificate
        var others: [TestCertificate] = []
        var anchors: [TestCertificate]
        var name = "www.example.test"
        var lists: [[UInt8]] = []
        var staple: [UInt8]?
        var keyExchange = PresentedChain.KeyExchange.signed
        var at = TestCertificate.now
    }

    init(
        _ what: String, _ expected: TrustFindings = [], stricter: String? = nil, looser: String? = nil,
        others: String? = nil,
        _ make: @escaping @Sendable () throws -> Scene
    ) {
        self.what = what
        self.expected = expected
        self.stricter = stricter
        self.looser = looser
        self.others = others
        self.make = make
    }

    var description: String { what }
}

extension TrustCase.Scene {
    func evaluated() throws -> TrustEvaluation {
        let chain = PresentedChain(
            leaf: leaf.certificate, others: others.map(\.certificate), staple: staple, keyExchange: keyExchange)
        return try TrustEvaluation.of(
            chain, for: ServerName(name), anchors: TrustAnchors(only: anchors.map(\.certificate)),
            revocation: lists.isEmpty ? nil : RevocationLists(files: lists),
            at: WallTime(seconds: at))
    }

    /// The scene with the certificates and the anchor of the path that was found, and no others.
    func reducedToItsPath() throws -> Self {
        let path = try evaluated().issuers
        var scene = self
        scene.others = others.filter { path.dropLast().contains($0.certificate) }
        scene.anchors = anchors.filter { $0.certificate == path.last }
        return scene
    }

    /// The verdict of `X509_verify_cert` at level 2, asked with the plainest calls: 0, or the error. Lists count where they
    /// speak for an issuer, as they do for us.
    func judgedByOpenSSL(strictly isStrict: Bool = true) throws -> Int32 {
        let store = X509_STORE_new()
        defer { X509_STORE_free(store) }
        for anchor in anchors { X509_STORE_add_cert(store, anchor.certificate.handle) }
        let untrusted = PathVerification.Stack(others.map(\.certificate.handle))!
        let context = X509_STORE_CTX_new()
        defer { X509_STORE_CTX_free(context) }
        X509_STORE_CTX_init(context, store, leaf.certificate.handle, untrusted.pointer)
        X509_STORE_CTX_set_default(context, "ssl_server")
        let parameters = X509_STORE_CTX_get0_param(context)
        X509_VERIFY_PARAM_set_auth_level(parameters, 2)
        X509_VERIFY_PARAM_set_flags(
            parameters,
            UInt((isStrict ? X509_V_FLAG_X509_STRICT : 0) | X509_V_FLAG_TRUSTED_FIRST | X509_V_FLAG_PARTIAL_CHAIN))
        X509_VERIFY_PARAM_set_depth(parameters, 10)
        X509_VERIFY_PARAM_set_time(parameters, time_t(at))
        switch ServerName(name) {
        case .host(let host): X509_VERIFY_PARAM_set1_host(parameters, host, 0)
        case .address(let address): X509_VERIFY_PARAM_set1_ip(parameters, address.bytes, address.bytes.count)
        case .workload: break
        }
        let lists = lists.isEmpty ? nil : try RevocationLists(files: lists)
        if let lists {
            X509_STORE_CTX_set0_crls(context, lists.handle)
            X509_STORE_CTX_set_flags(context, UInt(X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL))
            X509_STORE_CTX_set_verify_cb(context) { accepted, context in
                let error = X509_STORE_CTX_get_error(context)
                guard accepted == 0, [X509_V_ERR_UNABLE_TO_GET_CRL, X509_V_ERR_DIFFERENT_CRL_SCOPE].contains(error)
                else { return accepted }
                X509_STORE_CTX_set_error(context, X509_V_OK)
                return 1
            }
        }
        let verdict = X509_verify_cert(context)
        ERR_clear_error()
        let error = X509_STORE_CTX_get_error(context)
        return verdict == 1 ? X509_V_OK : error == X509_V_OK ? X509_V_ERR_UNSPECIFIED : error
    }
}
