//! The four tables.

use bourse_schema::{ColumnType, Field, Table, TableRow as _, Text, Value};
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// Number of a subscriber, from 1 on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SubscriberId(pub i64);

impl Field for SubscriberId {
    const TYPE: ColumnType = ColumnType::Ident;

    fn write_flat(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.0.to_string().as_bytes());
    }

    fn value(&self) -> Value<'_> {
        Value::Int(self.0)
    }
}

/// A telephone number: 15 digits.
pub type Number = Text<15>;

bourse_schema::table! {
    /// Subscribers of the operator, with settings and their present location.
    pub struct Subscriber = "subscriber", file "subscriber", Customer Scaling, rows PerLoadUnit(1_000, 0), key(s_id) {
        s_id: SubscriberId,
        sub_nbr: Number,
        bit_1: u8 | check "bit_1 IN (0, 1)",
        bit_2: u8, bit_3: u8, bit_4: u8, bit_5: u8, bit_6: u8, bit_7: u8, bit_8: u8, bit_9: u8, bit_10: u8,
        hex_1: u8, hex_2: u8, hex_3: u8, hex_4: u8, hex_5: u8,
        hex_6: u8, hex_7: u8, hex_8: u8, hex_9: u8, hex_10: u8,
        byte2_1: u8, byte2_2: u8, byte2_3: u8, byte2_4: u8, byte2_5: u8,
        byte2_6: u8, byte2_7: u8, byte2_8: u8, byte2_9: u8, byte2_10: u8,
        msc_location: i64,
        vlr_location: i64,
    }
    index "subscriber_by_number" (sub_nbr) for "Update-Location, Insert-Call-Forwarding, Delete-Call-Forwarding";
}

bourse_schema::table! {
    /// Access data of a subscriber: one to four rows each.
    pub struct AccessInfo = "access_info", file "access_info", Customer Scaling, rows AboutPerLoadUnit(2_500), key(s_id, ai_type) {
        s_id: SubscriberId => Subscriber,
        ai_type: u8 | check "ai_type BETWEEN 1 AND 4",
        data1: u8,
        data2: u8,
        data3: Text<3>,
        data4: Text<5>,
    }
}

bourse_schema::table! {
    /// Services of a subscriber, as call waiting: one to four rows each, 85 % of them active.
    pub struct SpecialFacility = "special_facility", file "special_facility", Customer Scaling, rows AboutPerLoadUnit(2_500), key(s_id, sf_type) {
        s_id: SubscriberId => Subscriber,
        sf_type: u8 | check "sf_type BETWEEN 1 AND 4",
        is_active: u8 | check "is_active IN (0, 1)",
        error_cntrl: u8,
        data_a: u8,
        data_b: Text<5>,
    }
}

bourse_schema::table! {
    /// Numbers to which calls are forwarded, from one of three hours on: none to three for each service.
    pub struct CallForwarding = "call_forwarding", file "call_forwarding", Customer Growing, rows AboutPerLoadUnit(3_750), key(s_id, sf_type, start_time) {
        s_id: SubscriberId,
        sf_type: u8,
        start_time: u8 | check "start_time IN (0, 8, 16)",
        end_time: u8 | check "end_time BETWEEN 1 AND 24",
        numberx: Number,
    }
    foreign(s_id, sf_type) => SpecialFacility;
}

/// All four, in the order of the specification.
pub fn all() -> &'static [&'static Table] {
    static ALL: LazyLock<[&'static Table; 4]> =
        LazyLock::new(|| [Subscriber::table(), AccessInfo::table(), SpecialFacility::table(), CallForwarding::table()]);
    &*ALL
}
