import IO

/// The objects that the measures with TLS share.
final class SecureSetting {
    let certificates: Certificates
    let origin: SecureOrigin
    /// How the load generator speaks TLS: with nothing remembered.
    let fresh: LoadSecurity

    init(in workspace: Workspace, origin plain: UInt16, on loop: EventLoop) throws(BenchError) {
        certificates = try Certificates(in: workspace)
        origin = try SecureOrigin(certificates, in: workspace)
        fresh = try LoadSecurity(resumes: false)
    }
}
