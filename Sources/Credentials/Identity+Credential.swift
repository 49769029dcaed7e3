import Authentication
import TLS

extension Identity: CertificateIdentity {}
