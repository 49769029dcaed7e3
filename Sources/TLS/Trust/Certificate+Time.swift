import Bytes
import COpenSSL
import Glibc

extension Certificate {
    /// Times of certificates, which are whole seconds.
    enum Time {
        /// The time of a field; nil if it is not in the form of RFC 5280 section 4.1.2.5.
        static func time(_ time: UnsafePointer<ASN1_TIME>?) -> WallTime? {
            guard let time else { return nil }
            var parts = tm()
            guard ASN1_TIME_to_tm(time, &parts) == 1 else {
                ERR_clear_error()
                return nil
            }
            let days = CivilTime.days(
                year: Int(parts.tm_year) + 1900, month: Int(parts.tm_mon) + 1, day: Int(parts.tm_mday))
            return WallTime(
                seconds: ((days * 24 + Int(parts.tm_hour)) * 60 + Int(parts.tm_min)) * 60 + Int(parts.tm_sec))
        }

        /// The date `2027-01-31`, in the proleptic Gregorian calendar. Times outside the years 1 to 9999 give their
        /// first or last day.
        static func date(_ time: WallTime) -> String { CivilTime(time).dateText }
    }
}
