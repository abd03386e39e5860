//! Table of sectors and industries, with the words for their companies' names and descriptions.

use super::industries::{BuiltinIndustry, BuiltinSector};

const fn industry(name: &'static str, nouns: [&'static str; 3], goods: &'static str) -> BuiltinIndustry {
    BuiltinIndustry { name, nouns, goods }
}

/// All sectors, in alphabetical order of their ids.
pub(super) const SECTORS: [BuiltinSector; 12] = [
    BuiltinSector {
        id: "AF",
        name: "Agriculture and Food",
        buyers: &["grocers", "restaurants", "food makers", "wholesale markets"],
        industries: &[
            industry("Crop Growing", ["Farms", "Harvest", "Grain"], "wheat, maize, oilseed and sugar beet"),
            industry("Livestock and Dairy", ["Dairies", "Ranches", "Creameries"], "milk, butter, cheese and beef"),
            industry(
                "Fishing and Fish Farming",
                ["Fisheries", "Seafoods", "Trawlers"],
                "salmon, shellfish and frozen fillets",
            ),
            industry(
                "Fruit and Vegetables",
                ["Orchards", "Gardens", "Produce"],
                "fresh and dried fruit and vegetables",
            ),
            industry(
                "Mills and Bakeries",
                ["Mills", "Bakeries", "Flour"],
                "flour, bread, biscuits and breakfast cereals",
            ),
            industry(
                "Soft Drinks and Water",
                ["Springs", "Beverages", "Bottling"],
                "mineral water, lemonade and fruit juices",
            ),
            industry("Brewing and Wine", ["Brewing", "Vineyards", "Cellars"], "beer, cider, table wine and spirits"),
            industry(
                "Sweets and Chocolate",
                ["Confections", "Chocolates", "Candies"],
                "chocolate, toffee and chewing gum",
            ),
            industry("Ready Meals", ["Kitchens", "Foods", "Provisions"], "soups, sauces and frozen ready meals"),
        ],
    },
    BuiltinSector {
        id: "BH",
        name: "Building and Housing",
        buyers: &["builders", "home owners", "town councils", "landlords"],
        industries: &[
            industry("House Building", ["Homes", "Builders", "Dwellings"], "family houses and apartment blocks"),
            industry("Roads and Bridges", ["Construction", "Bridgeworks", "Paving"], "highways, bridges and tunnels"),
            industry(
                "Cement and Brick",
                ["Cement", "Brickworks", "Masonry"],
                "cement, brick, tile and ready-mixed concrete",
            ),
            industry("Doors and Windows", ["Windows", "Joinery", "Doors"], "doors, windows, stairs and shutters"),
            industry(
                "Plumbing and Heating",
                ["Plumbing", "Boilers", "Heating"],
                "boilers, pipes, valves and heat pumps",
            ),
            industry("Offices to Let", ["Properties", "Realty", "Estates"], "offices, workshops and warehouses to let"),
            industry("Land and Forests", ["Land", "Timberlands", "Acres"], "building land, forests and pastures"),
            industry(
                "Architects and Surveyors",
                ["Design", "Surveyors", "Planning"],
                "building plans, surveys and site inspections",
            ),
            industry("Furniture", ["Furniture", "Cabinets", "Upholstery"], "tables, chairs, beds and fitted kitchens"),
        ],
    },
    BuiltinSector {
        id: "CP",
        name: "Consumer Products",
        buyers: &["households", "department stores", "mail-order houses", "gift shops"],
        industries: &[
            industry("Clothing", ["Clothing", "Tailors", "Knitwear"], "coats, suits, shirts and knitwear"),
            industry("Shoes and Leather", ["Shoes", "Leather", "Saddlery"], "shoes, boots, belts and travel bags"),
            industry("Soap and Cosmetics", ["Soaps", "Cosmetics", "Perfumes"], "soap, perfume and skin cream"),
            industry(
                "Household Appliances",
                ["Appliances", "Domestic", "Housewares"],
                "stoves, refrigerators and washing machines",
            ),
            industry(
                "Cutlery and Crockery",
                ["Cutlery", "Potteries", "Glassware"],
                "knives, plates, pots and drinking glasses",
            ),
            industry(
                "Clocks and Jewelry",
                ["Jewelers", "Clocks", "Silversmiths"],
                "watches, clocks, rings and silverware",
            ),
            industry(
                "Paper and Stationery",
                ["Paper", "Stationers", "Pens"],
                "notebooks, envelopes, pens and tissue paper",
            ),
            industry(
                "Department Stores",
                ["Stores", "Emporium", "Bazaar"],
                "department stores in large and middle-sized towns",
            ),
        ],
    },
    BuiltinSector {
        id: "DC",
        name: "Data and Computing",
        buyers: &["banks", "hospitals", "small businesses", "government offices"],
        industries: &[
            industry(
                "Business Software",
                ["Software", "Ledgers", "Applications"],
                "accounting, payroll and stock-keeping programs",
            ),
            industry("Databases", ["Databases", "Records", "Archives"], "database engines and tools to back them up"),
            industry(
                "Network Equipment",
                ["Networks", "Routers", "Cabling"],
                "routers, switches and fiber-optic cables",
            ),
            industry(
                "Computers",
                ["Computers", "Machines", "Workstations"],
                "servers, desktop computers and terminals",
            ),
            industry("Chips", ["Semiconductors", "Circuits", "Silicon"], "processors, memory chips and sensors"),
            industry("Data Storage", ["Storage", "Disks", "Vaults"], "disk arrays, tape robots and flash drives"),
            industry(
                "Computer Services",
                ["Services", "Consultants", "Computing"],
                "programming, hosting and help-desk services",
            ),
            industry("Games Software", ["Games", "Arcades", "Play"], "video games and puzzles for telephones"),
            industry(
                "Security Software",
                ["Ciphers", "Locksmiths", "Shields"],
                "encryption, fire walls and password safes",
            ),
        ],
    },
    BuiltinSector {
        id: "EF",
        name: "Energy and Fuel",
        buyers: &["power stations", "refineries", "airlines", "factories"],
        industries: &[
            industry(
                "Oil and Gas Wells",
                ["Petroleum", "Exploration", "Wells"],
                "crude oil and natural gas from its own wells",
            ),
            industry("Refineries", ["Refining", "Oil", "Fuels"], "gasoline, diesel, jet fuel and lubricants"),
            industry(
                "Drilling Services",
                ["Drilling", "Rigs", "Wellheads"],
                "drilling rigs, crews and down-hole tools",
            ),
            industry("Coal", ["Coal", "Collieries", "Coke"], "steam coal, coking coal and briquettes"),
            industry(
                "Solar Power",
                ["Solar", "Sunworks", "Photovoltaics"],
                "solar panels, inverters and mounting frames",
            ),
            industry("Wind Power", ["Wind", "Turbines", "Windmills"], "wind turbines, towers and rotor blades"),
            industry("Nuclear Fuel", ["Nuclear", "Isotopes", "Reactors"], "fuel rods, isotopes and reactor services"),
            industry(
                "Batteries",
                ["Batteries", "Cells", "Accumulators"],
                "batteries, chargers and stationary power packs",
            ),
        ],
    },
    BuiltinSector {
        id: "FI",
        name: "Finance and Insurance",
        buyers: &["families", "farmers", "manufacturers", "retired people"],
        industries: &[
            industry(
                "Commercial Banks",
                ["Bank", "Bancorp", "Trust"],
                "checking accounts, loans and letters of credit",
            ),
            industry("Savings Banks", ["Savings", "Thrift", "Mutual"], "savings accounts, mortgages and school loans"),
            industry(
                "Brokers and Exchanges",
                ["Securities", "Brokers", "Capital"],
                "brokerage, custody and market research",
            ),
            industry(
                "Fund Managers",
                ["Funds", "Asset Management", "Advisors"],
                "pension funds, mutual funds and financial advice",
            ),
            industry(
                "Life Insurance",
                ["Life", "Assurance", "Annuities"],
                "life insurance, annuities and funeral plans",
            ),
            industry("Property Insurance", ["Insurance", "Casualty", "Fire"], "fire, storm and liability insurance"),
            industry(
                "Reinsurance",
                ["Reinsurance", "Underwriters", "Indemnity"],
                "reinsurance of marine, flood and hail risks",
            ),
            industry(
                "Consumer Credit",
                ["Credit", "Finance", "Lending"],
                "credit cards, car loans and installment plans",
            ),
            industry("Payments", ["Payments", "Clearing", "Remittance"], "card payments, transfers and cash machines"),
        ],
    },
    BuiltinSector {
        id: "HM",
        name: "Health and Medicine",
        buyers: &["hospitals", "physicians", "pharmacies", "nursing homes"],
        industries: &[
            industry(
                "Medicines",
                ["Pharmaceuticals", "Remedies", "Laboratories"],
                "tablets, ointments and cough syrup",
            ),
            industry(
                "Biotechnology",
                ["Biosciences", "Genetics", "Biologics"],
                "antibodies, vaccines and gene therapies",
            ),
            industry(
                "Medical Instruments",
                ["Surgical", "Medical", "Implants"],
                "scalpels, stents and artificial joints",
            ),
            industry(
                "Imaging and Diagnostics",
                ["Diagnostics", "Imaging", "Scanners"],
                "scanners, test kits and laboratory analysis",
            ),
            industry("Hospitals", ["Hospitals", "Clinics", "Infirmary"], "hospitals, day clinics and emergency rooms"),
            industry("Care Homes", ["Care", "Residences", "Nursing"], "homes and home visits for the elderly"),
            industry(
                "Dental and Optical",
                ["Dental", "Optics", "Lenses"],
                "crowns, braces, spectacles and contact lenses",
            ),
            industry(
                "Veterinary",
                ["Veterinary", "Animal Health", "Kennels"],
                "animal medicines, vaccines and pet clinics",
            ),
        ],
    },
    BuiltinSector {
        id: "IM",
        name: "Industrial Machines",
        buyers: &["car makers", "shipyards", "machine shops", "contractors"],
        industries: &[
            industry("Machine Tools", ["Tools", "Lathes", "Toolworks"], "lathes, milling machines and drill presses"),
            industry("Engines and Pumps", ["Engines", "Pumps", "Compressors"], "diesel engines, pumps and compressors"),
            industry(
                "Farm Machinery",
                ["Tractors", "Plows", "Implements"],
                "tractors, combines and irrigation equipment",
            ),
            industry("Cranes and Lifts", ["Cranes", "Elevators", "Hoists"], "tower cranes, fork lifts and elevators"),
            industry(
                "Measuring Instruments",
                ["Instruments", "Gauges", "Scales"],
                "scales, gauges, meters and microscopes",
            ),
            industry("Electric Motors", ["Electric", "Motors", "Dynamo"], "motors, transformers and switch gear"),
            industry("Aircraft", ["Aircraft", "Aerospace", "Airframes"], "light aircraft, wings and landing gear"),
            industry(
                "Robots",
                ["Robotics", "Automation", "Controls"],
                "welding robots, conveyor lines and controllers",
            ),
            industry(
                "Bearings and Gears",
                ["Bearings", "Gears", "Fasteners"],
                "ball bearings, gear boxes, bolts and springs",
            ),
        ],
    },
    BuiltinSector {
        id: "LM",
        name: "Leisure and Media",
        buyers: &["tourists", "readers", "schools", "advertisers"],
        industries: &[
            industry("Hotels", ["Hotels", "Inns", "Lodges"], "hotels, inns and holiday villages"),
            industry("Restaurants", ["Restaurants", "Diners", "Taverns"], "restaurants, coffee houses and catering"),
            industry("Newspapers", ["Press", "Gazette", "Newspapers"], "daily newspapers, magazines and printing"),
            industry("Books", ["Books", "Publishing", "Editions"], "novels, school books and atlases"),
            industry(
                "Film and Television",
                ["Pictures", "Films", "Television"],
                "films, serials and documentary programs",
            ),
            industry(
                "Radio and Music",
                ["Music", "Radio", "Recordings"],
                "radio stations, concerts and recorded music",
            ),
            industry(
                "Toys and Sports Goods",
                ["Toys", "Sports", "Bicycles"],
                "dolls, train sets, bicycles and tennis rackets",
            ),
            industry("Parks and Theaters", ["Parks", "Theaters", "Amusements"], "theaters, zoos and amusement parks"),
        ],
    },
    BuiltinSector {
        id: "MC",
        name: "Materials and Chemicals",
        buyers: &["foundries", "paint makers", "packers", "construction firms"],
        industries: &[
            industry("Steel", ["Steel", "Ironworks", "Forge"], "steel plate, wire, rails and castings"),
            industry(
                "Aluminum and Copper",
                ["Aluminum", "Copper", "Metals"],
                "aluminum sheet, copper tube and brass fittings",
            ),
            industry(
                "Gold and Silver Mines",
                ["Gold", "Mines", "Minerals"],
                "gold, silver and platinum from its own mines",
            ),
            industry(
                "Basic Chemicals",
                ["Chemicals", "Acids", "Solvents"],
                "acids, solvents, salts and industrial gases",
            ),
            industry("Plastics and Rubber", ["Plastics", "Polymers", "Rubber"], "plastic film, rubber hose and foam"),
            industry("Paints and Glues", ["Paints", "Coatings", "Adhesives"], "paint, varnish, glue and sealing wax"),
            industry(
                "Glass and Ceramics",
                ["Glass", "Ceramics", "Crystal"],
                "window glass, bottles and fireproof ceramics",
            ),
            industry("Timber and Pulp", ["Timber", "Lumber", "Pulp"], "sawn timber, plywood and wood pulp"),
            industry("Packaging", ["Packaging", "Containers", "Cartons"], "boxes, cans, bottles and shipping sacks"),
        ],
    },
    BuiltinSector {
        id: "TT",
        name: "Transport and Travel",
        buyers: &["exporters", "commuters", "merchants", "parcel services"],
        industries: &[
            industry("Airlines", ["Airlines", "Airways", "Aviation"], "passenger flights and air freight"),
            industry(
                "Railways",
                ["Railways", "Railroad", "Locomotive"],
                "freight trains, commuter trains and sleeping cars",
            ),
            industry("Shipping", ["Shipping", "Steamships", "Maritime"], "container ships, tankers and ferries"),
            industry("Trucking", ["Trucking", "Haulage", "Freight"], "trucks, moving vans and refrigerated transport"),
            industry(
                "Couriers and Mail",
                ["Couriers", "Express", "Parcels"],
                "letters, parcels and overnight deliveries",
            ),
            industry(
                "Harbors and Warehouses",
                ["Docks", "Warehouses", "Terminals"],
                "harbor cranes, warehouses and customs clearance",
            ),
            industry("Car Makers", ["Automobiles", "Carriage", "Coachworks"], "family cars, vans and city buses"),
            industry("Car Parts", ["Brakes", "Axles", "Tires"], "brakes, gear boxes, headlights and tires"),
        ],
    },
    BuiltinSector {
        id: "UN",
        name: "Utilities and Networks",
        buyers: &["cities", "villages", "industrial parks", "private homes"],
        industries: &[
            industry("Electricity Supply", ["Power", "Light and Power", "Grid"], "electricity over its own lines"),
            industry("Gas Supply", ["Gas", "Gasworks", "Pipelines"], "natural gas through its own mains"),
            industry("Water Supply", ["Water", "Waterworks", "Aqueducts"], "drinking water and sewage treatment"),
            industry(
                "Telephone Companies",
                ["Telephone", "Telecom", "Exchanges"],
                "telephone lines and internet access",
            ),
            industry("Mobile Networks", ["Wireless", "Mobile", "Cellular"], "mobile telephone networks and pagers"),
            industry(
                "Satellites",
                ["Satellites", "Orbital", "Skylink"],
                "satellite links, weather pictures and navigation",
            ),
            industry(
                "Waste and Recycling",
                ["Recycling", "Salvage", "Disposal"],
                "refuse collection, recycling and composting",
            ),
            industry("Guards and Alarms", ["Guard", "Alarms", "Patrol"], "night watchmen, alarms and armored cars"),
        ],
    },
];
