import Crypto
import Glibc
import IO
import TLS

extension CAStore {
    /// The two files of a CA, read and written as a pair.
    struct Files {
        let place: CAStore.Location
        let values: ValueReader

        struct Contents {
            let certificate: Secret
            let key: Secret
            let passphrase: Secret?

            /// A digest to compare contents without keeping them.
            var digest: UInt128 {
                var digest = MessageDigest(.sha256)
                for part in [certificate, key, passphrase] {
                    digest.update(utf8: "\(part?.count ?? -1) ")
                    part?.withBytes { digest.update($0) }
                }
                return digest.finish().prefix128
            }
        }

        /// - Parameter waits: whether to wait while another process of this program writes the files; if false, nil is
        ///   returned then.
        func read(waits: Bool) throws(CAStore.Problem) -> Contents? {
            var passphrase: Secret?
            if case .files(_, _, let source?) = place {
                do throws(CredentialError) {
                    passphrase = try values.secret(of: source, for: "(the authority's passphrase)")
                } catch { throw .passphrase(error) }
            }
            var lock: DirectoryLock?
            if case .state(let directory) = place {
                do throws(IOError) {
                    lock = try DirectoryLock(shared: directory, waits: waits)
                } catch { throw .unreadable(path: directory, cause: "\(error)") }
                if lock == nil { return nil }
            }
            defer { lock?.release() }
            guard SmallFile.permissions(of: place.key, among: place.forbiddenPermissions) == 0 else {
                throw .exposedKey(path: place.key)
            }
            let certificate = try certificate()
            return Contents(certificate: certificate, key: try content(of: place.key), passphrase: passphrase)
        }

        /// The certificate alone, which is public.
        func certificate() throws(CAStore.Problem) -> Secret { try content(of: place.certificate) }

        /// Whether both files exist.
        var areThere: Bool { SmallFile.exists(place.certificate) && SmallFile.exists(place.key) }

        /// Stores a new CA in the proxy's directory if that has none. If `replacing`, replaces the existing CA, and
        /// keeps its certificate as `ca.old.pem`.
        func keep(_ authority: CertificateAuthority, replacing: Bool) throws(CAStore.Problem) {
            guard case .state(let directory) = place else { return }
            let key = try pem(of: authority)
            do throws(IOError) {
                try DurableFile.makeDirectory(directory)
                let lock = try DirectoryLock(exclusive: directory)
                defer { lock.release() }
                // Another process may have been faster.
                let isFree = !SmallFile.exists(place.certificate) && !SmallFile.exists(place.key)
                guard replacing || isFree else { return }
                if let old = try? SmallFile.read(place.certificate, limit: Identity.Material.limit) {
                    try DurableFile.write(old.span, to: "\(directory)/ca.old.pem", mode: 0o644)
                }
                try key.withBytes { bytes throws(IOError) in try DurableFile.write(bytes, to: place.key, mode: 0o600) }
                let certificate = Array(authority.identity.leaf.pem.utf8)
                try DurableFile.write(certificate.span, to: place.certificate, mode: 0o644)
            } catch { throw .unwritable(cause: "\(error)") }
        }

        private func pem(of authority: CertificateAuthority) throws(CAStore.Problem) -> Secret {
            do throws(Identity.Failure) {
                return try authority.identity.key.pem()
            } catch { throw .unusable(place, .identity(error)) }
        }

        private func content(of path: String) throws(CAStore.Problem) -> Secret {
            var bytes: [UInt8]
            do throws(FileError) {
                bytes = try SmallFile.read(path, limit: Identity.Material.limit)
            } catch {
                switch error {
                case .system(errno: ENOENT): throw .missing(path: path, place)
                case .system(let errno): throw .unreadable(path: path, cause: IOError.sentence(for: errno))
                case .tooLarge:
                    throw .unreadable(path: path, cause: "it is larger than \(Identity.Material.limit) bytes")
                }
            }
            guard !bytes.isEmpty else { throw .empty(path: path) }
            return Secret(wiping: &bytes)
        }
    }
}
