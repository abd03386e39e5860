//! The seven transactions on plain collections, by the published description: what the statements of
//! [`transactions`](crate::transactions) are compared with.

use crate::population::START_TIMES;
use crate::requests::Request;
use crate::tables::{AccessInfo, CallForwarding, Number, SpecialFacility, Subscriber, SubscriberId};
use crate::transactions::Output;
use bourse_oltp::verify::ReferenceTables;
use bourse_schema::TableRow as _;

const CHANGED: (i32, Output) = (0, Output::Changed);

/// Performs a transaction; its status code and output, or `None` for a miss.
pub fn perform(tables: &mut ReferenceTables, request: &Request) -> Option<(i32, Output)> {
    Some(match *request {
        Request::GetSubscriberData { s_id: SubscriberId(id) } => {
            let columns = Subscriber::table().columns[2..].iter();
            let data = columns.map(|column| tables.number::<Subscriber>(&[id], column.name));
            let sub_nbr = tables.text::<Subscriber>(&[id], "sub_nbr")?.to_owned();
            (0, Output::Subscriber { sub_nbr, data: data.collect::<Option<_>>()? })
        }
        Request::GetNewDestination { s_id: SubscriberId(id), sf_type, start_time, end_time } => {
            tables.number::<SpecialFacility>(&[id, sf_type.into()], "is_active").filter(|flag| *flag == 1)?;
            let begun = START_TIMES.iter().filter(|hour| **hour <= start_time);
            let mut numbers: Vec<_> = begun
                .filter_map(|hour| {
                    let key = [id, sf_type.into(), (*hour).into()];
                    tables.number::<CallForwarding>(&key, "end_time").filter(|end| *end > end_time.into())?;
                    tables.text::<CallForwarding>(&key, "numberx").map(str::to_owned)
                })
                .collect();
            numbers.sort_unstable();
            (0, Output::Destinations(Some(numbers).filter(|numbers| !numbers.is_empty())?))
        }
        Request::GetAccessData { s_id: SubscriberId(id), ai_type } => {
            let key = [id, ai_type.into()];
            let number = |column| tables.number::<AccessInfo>(&key, column);
            let text = |column| tables.text::<AccessInfo>(&key, column).map(str::to_owned);
            let (data, texts) = ([number("data1")?, number("data2")?], [text("data3")?, text("data4")?]);
            (0, Output::Access { data, texts })
        }
        Request::UpdateSubscriberData { s_id: SubscriberId(id), bit_1, sf_type, data_a } => {
            tables.set::<SpecialFacility>(&[id, sf_type.into()], "data_a", data_a.into()).then_some(())?;
            tables.set::<Subscriber>(&[id], "bit_1", bit_1.into()).then_some(CHANGED)?
        }
        Request::UpdateLocation { sub_nbr, vlr_location } => {
            tables.set::<Subscriber>(&[id_of(&sub_nbr)?], "vlr_location", vlr_location).then_some(CHANGED)?
        }
        Request::InsertCallForwarding { sub_nbr, sf_type, start_time, end_time, numberx } => {
            let s_id = SubscriberId(id_of(&sub_nbr)?);
            tables.number::<SpecialFacility>(&[s_id.0, sf_type.into()], "sf_type")?;
            let is_new = tables.insert(&CallForwarding { s_id, sf_type, start_time, end_time, numberx });
            if is_new { CHANGED } else { (2, Output::Exists) }
        }
        Request::DeleteCallForwarding { sub_nbr, sf_type, start_time } => {
            let key = [id_of(&sub_nbr)?, sf_type.into(), start_time.into()];
            tables.remove::<CallForwarding>(&key).then_some(CHANGED)?
        }
    })
}

/// Subscribers are numbered by their id.
pub(crate) fn id_of(sub_nbr: &Number) -> Option<i64> {
    sub_nbr.as_str().parse().ok()
}
