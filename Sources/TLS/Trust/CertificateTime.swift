import Bytes
import COpenSSL

/// Times of certificates, in seconds since 1970 (UTC).
enum CertificateTime {
    /// The seconds of a time field; nil if it is not in the form of RFC 5280 section 4.1.2.5.
    static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int? {
        guard let time else { return nil }
        var parts = tm()
        guard ASN1_TIME_to_tm(time, &parts) == 1 else {
            ERR_clear_error()
            return nil
        }
        let days = CivilTime.days(
            year: Int(parts.tm_year) + 1900, month: Int(parts.tm_mon) + 1, day: Int(parts.tm_mday))
        return ((days * 24 + Int(parts.tm_hour)) * 60 + Int(parts.tm_min)) * 60 + Int(parts.tm_sec)
    }

    /// The date `2027-01-31`, in the proleptic Gregorian calendar. Times outside the years 1 to 9999 give their first
    /// or last day.
    static func date(_ seconds: Int) -> String {
        let time = CivilTime(epochSeconds: seconds)
        return "\(padded(time.year, 4))-\(padded(time.month, 2))-\(padded(time.day, 2))"
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
