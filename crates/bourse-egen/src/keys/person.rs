use bourse_schema::{BrokerId, CompanyId, CustomerId, Text};

use super::by_key;
use crate::Inputs;

/// A person with a name: customers, brokers, chiefs of companies, and those with permission to trade for others.
///
/// ```
/// use bourse_egen::{Inputs, ids, keys::Person};
/// let inputs = Inputs::builtin();
/// let person = Person::from(ids::customer(1));
/// assert_eq!(person.full_name::<49>(&inputs).as_str(), "Gerald Amenik");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Person(pub i64);

impl From<CustomerId> for Person {
    fn from(customer: CustomerId) -> Self {
        Self(customer.0)
    }
}
impl From<BrokerId> for Person {
    /// Brokers are a million persons away from the customers of the same number.
    fn from(broker: BrokerId) -> Self {
        Self(broker.0 + 1_000_000)
    }
}
impl From<CompanyId> for Person {
    /// A company's chief executive.
    fn from(company: CompanyId) -> Self {
        Self(company.0.wrapping_mul(1_000))
    }
}

/// Gender of a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gender {
    /// Written `F`.
    Female,
    /// Written `M`.
    Male,
}

impl Gender {
    /// Letter of the gender.
    pub fn letter(self) -> &'static str {
        match self {
            Self::Female => "F",
            Self::Male => "M",
        }
    }
}

impl Person {
    /// Gender.
    pub fn gender(self) -> Gender {
        if by_key(9_568_922, self.0).percent(49) { Gender::Male } else { Gender::Female }
    }

    /// First name.
    pub fn first_name(self, inputs: &Inputs) -> &Text<20> {
        let names = match self.gender() {
            Gender::Female => &inputs.female_first_names,
            Gender::Male => &inputs.male_first_names,
        };
        names.pick(&mut by_key(95_066_470, self.0))
    }

    /// Last name.
    pub fn last_name(self, inputs: &Inputs) -> &Text<25> {
        inputs.last_names.pick(&mut by_key(35_846_049, self.0))
    }

    /// Initial of the middle name.
    pub fn middle_initial(self) -> Text<1> {
        let mut text = Text::EMPTY;
        by_key(71_434_514, self.0).alphanumeric("a", &mut text).expect("a text cuts, it does not fail");
        text
    }

    /// `First Last`.
    pub fn full_name<const N: usize>(self, inputs: &Inputs) -> Text<N> {
        let mut text = Text::cut(self.first_name(inputs).as_str());
        text.push(" ");
        text.push(self.last_name(inputs).as_str());
        text
    }

    /// Name as `First M. Last`, the form for brokers.
    pub fn formal_name(self, inputs: &Inputs) -> Text<49> {
        let mut text = Text::cut(self.first_name(inputs).as_str());
        text.push(" ");
        text.push(self.middle_initial().as_str());
        text.push(". ");
        text.push(self.last_name(inputs).as_str());
        text
    }

    /// Tax identifier.
    pub fn tax_id(self) -> Text<20> {
        let mut text = Text::EMPTY;
        let mut rng = by_key(8_731_255, self.0.wrapping_mul(14));
        rng.alphanumeric("nnnaannnnaannn", &mut text).expect("a text cuts, it does not fail");
        text
    }
}
