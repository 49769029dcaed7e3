import Bytes
import COpenSSL

extension Certificate {
    /// Compares the subjectAltName of a server's certificate with the expected name (RFC 9525 section 6): host names
    /// with dNSName, addresses with iPAddress. The common name is ignored.
    enum Names {
        static func speak(for name: ServerName, in certificate: Certificate) -> Bool {
            switch name {
            case .host(let host):
                let host = Array(host.utf8)
                return certificate.subjectAlternativeNames.contains { name in
                    guard case .dns(let presented) = name else { return false }
                    return HostMatch.matches(presented: Array(presented.utf8), host: host)
                }
            case .address(let address): return certificate.subjectAlternativeNames.contains(.address(address))
            case .workload(let workload): return certificate.workload == workload
            }
        }

        /// Whether a dNSName matches a host (RFC 9525 section 6.3), on bytes.
        enum HostMatch {
            /// Compares without case. `*` is allowed as the whole leftmost label only. It matches one label of letters,
            /// digits and hyphens, and needs two labels to its right.
            static func matches(presented: [UInt8], host: [UInt8]) -> Bool {
                guard let first = presented.first, let start = host.first, start != dot else { return false }
                guard first == star else { return !presented.contains(star) && equal(presented[...], host[...]) }
                let domain = presented.dropFirst()
                guard isWildcardDomain(domain), let end = host.firstIndex(of: dot) else { return false }
                return host[..<end].allSatisfy(isLetterDigitHyphen) && equal(domain, host[end...])
            }

            /// Whether the bytes are a dot and at least two valid labels of a host name.
            private static func isWildcardDomain(_ domain: ArraySlice<UInt8>) -> Bool {
                guard domain.first == dot else { return false }
                let labels = domain.dropFirst().split(separator: dot, omittingEmptySubsequences: false)
                return labels.count >= 2
                    && labels.allSatisfy { label in
                        label.allSatisfy(isLetterDigitHyphen) && label.first.map { $0 != hyphen } == true
                            && label.last.map { $0 != hyphen } == true
                    }
            }

            private static func equal(_ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>) -> Bool {
                left.count == right.count && zip(left, right).allSatisfy { $0.asciiLowercased == $1.asciiLowercased }
            }

            private static func isLetterDigitHyphen(_ unit: UInt8) -> Bool {
                unit.isAlphanumeric || unit == hyphen
            }

            private static let star = UInt8(ascii: "*")
            private static let dot = UInt8(ascii: ".")
            private static let hyphen = UInt8(ascii: "-")
        }

        /// Whether a CA excludes a host (RFC 5280 section 4.2.1.10) that a wildcard would match. OpenSSL compares
        /// `*.example.com` itself with the excluded names, and not the matched host.
        enum ExcludedHost {
            static func isExcluded(_ host: String, by authority: Certificate) -> Bool {
                guard X509_get_ext_by_NID(authority.handle, NID_name_constraints, -1) >= 0,
                    let decoded = X509_get_ext_d2i(authority.handle, NID_name_constraints, nil, nil)
                else { return false }
                let constraints = decoded.assumingMemoryBound(to: NAME_CONSTRAINTS.self)
                defer { NAME_CONSTRAINTS_free(constraints) }
                let subtrees = PathVerification.Stack.objects(in: constraints.pointee.excludedSubtrees)
                return subtrees.contains { subtree in
                    guard let base = UnsafePointer<GENERAL_SUBTREE>(subtree).pointee.base,
                        case .dns(let domain) = SubjectAlternativeName(base)
                    else { return false }
                    return host == domain || host.hasSuffix(domain.hasPrefix(".") ? domain : ".\(domain)")
                }
            }
        }
    }
}
