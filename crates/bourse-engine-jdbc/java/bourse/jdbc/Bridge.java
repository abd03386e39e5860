package bourse.jdbc;

import java.io.File;
import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.math.BigDecimal;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.sql.BatchUpdateException;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.Date;
import java.sql.Driver;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.sql.Types;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;

/**
 * One session: a JDBC connection with its prepared statements, and two buffers that the other side reads and writes directly.
 *
 * A call runs a whole statement: parameters come in `in`, rows go out in `out`, so that the boundary is crossed once. Each
 * call returns a number in its lower 32 bits and flags above them. Nothing is thrown across the boundary: what fails is
 * described in `out`. One file without inner classes, for it is defined in the virtual machine from its bytes.
 */
public final class Bridge {
    /** There are more rows: call `fetch`. */
    private static final long MORE = 1L << 32;
    /** `out` is another buffer than before. */
    private static final long MOVED = 1L << 33;
    /** It failed: `out` says why. */
    private static final long FAILED = 1L << 34;
    /** The statement is a query. */
    private static final long ROWS = 1L << 35;

    /** Kinds of values in both buffers. */
    private static final byte NULL = 0, INT = 1, BOOL = 2, DECIMAL = 3, REAL = 4, DATE = 5, TIMESTAMP = 6, TEXT = 7, BYTES = 8;

    /** What failed: a statement, for want of memory, an unknown class, a class for newer machines, anything else. */
    private static final byte SQL = 0, MEMORY = 1, NO_CLASS = 2, OLD_JAVA = 3, OTHER = 4;

    private static final long DAY = 86_400_000L;
    /** Bytes of rows after which a call returns. */
    private static final int ENOUGH = 1 << 16;

    /** Drivers by their class path and class. */
    private static final Map<String, Driver> DRIVERS = new HashMap<>();

    private ByteBuffer in;
    private ByteBuffer out;
    private long moved;

    private Connection connection;
    private boolean hasJavaTime;
    private boolean isOpen;
    private int isolation = -1;

    private PreparedStatement[] statements = new PreparedStatement[64];
    private byte[][] kinds = new byte[64][];

    private ResultSet rows;
    private byte[] rowKinds;

    /** The statement that is executed now. Another thread reads it in a call of its own, so it needs no fence. */
    private PreparedStatement running;

    /** A session without connection. */
    public Bridge(int inBytes, int outBytes) {
        in = direct(inBytes);
        out = direct(outBytes);
    }

    private static ByteBuffer direct(int bytes) {
        return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
    }

    /** The buffer for parameters, 0, or for rows, 1. */
    public Object buffer(int which) {
        return which == 0 ? in : out;
    }

    /** Makes the buffer for parameters larger; what is in it stays. */
    public long grow(int bytes) {
        try {
            ByteBuffer larger = direct(bytes);
            in.clear();
            larger.put(in);
            in = larger;
            return 0;
        } catch (Throwable failure) {
            return fail(failure);
        }
    }

    /** Loads a driver once, and connects. */
    public long connect() {
        try {
            in.clear();
            String jars = text(), driver = text(), system = text(), url = text(), properties = text();
            hasJavaTime = in.get() != 0;
            connection = driver(jars, driver, system).connect(url, properties(properties));
            if (connection == null) {
                throw new SQLException("the driver " + driver + " does not know the URL " + url, "08001");
            }
            connection.setAutoCommit(false);
            return 0;
        } catch (Throwable failure) {
            return fail(failure);
        }
    }

    private static synchronized Driver driver(String jars, String name, String system) throws Exception {
        String key = jars + '\n' + name;
        Driver known = DRIVERS.get(key);
        if (known != null) {
            return known;
        }
        for (Map.Entry<Object, Object> property : properties(system).entrySet()) {
            System.setProperty((String) property.getKey(), (String) property.getValue());
        }
        String[] paths = jars.split("\n");
        URL[] urls = new URL[paths.length];
        for (int at = 0; at < paths.length; at++) {
            urls[at] = new File(paths[at]).toURI().toURL();
        }
        ClassLoader loader = new URLClassLoader(urls, ClassLoader.getPlatformClassLoader());
        Driver driver = (Driver) Class.forName(name, true, loader).getDeclaredConstructor().newInstance();
        DRIVERS.put(key, driver);
        return driver;
    }

    /** Lines of name and value. */
    private static Properties properties(String lines) {
        Properties properties = new Properties();
        for (String line : lines.split("\n")) {
            int equals = line.indexOf('=');
            if (equals > 0) {
                properties.setProperty(line.substring(0, equals), line.substring(equals + 1));
            }
        }
        return properties;
    }

    /** Connects to a URL that ends something, as a shutdown does: an error of the connection means that it is done. */
    public long connectToEnd() {
        long connected = connect();
        return close() | (connected & ~FAILED);
    }

    /** Prepares a statement: how many parameters it has, and the names of its columns. */
    public long prepare(int slot) {
        try {
            in.clear();
            String sql = text();
            if (slot >= statements.length) {
                int more = Math.max(slot + 1, 2 * statements.length);
                statements = Arrays.copyOf(statements, more);
                kinds = Arrays.copyOf(kinds, more);
            }
            if (statements[slot] != null) {
                statements[slot].close();
                statements[slot] = null;
            }
            PreparedStatement statement = connection.prepareStatement(sql);
            statements[slot] = statement;
            ResultSetMetaData columns = statement.getMetaData();
            int count = columns == null ? 0 : columns.getColumnCount();
            out.clear();
            need(8);
            out.putInt(statement.getParameterMetaData().getParameterCount());
            out.putInt(count);
            byte[] found = new byte[count];
            for (int at = 0; at < count; at++) {
                found[at] = kind(columns.getColumnType(at + 1));
                putText(columns.getColumnLabel(at + 1));
            }
            kinds[slot] = found;
            return moved();
        } catch (Throwable failure) {
            return fail(failure);
        }
    }

    private static byte kind(int type) {
        switch (type) {
            case Types.BIGINT: case Types.INTEGER: case Types.SMALLINT: case Types.TINYINT:
                return INT;
            case Types.BOOLEAN: case Types.BIT:
                return BOOL;
            case Types.NUMERIC: case Types.DECIMAL:
                return DECIMAL;
            case Types.DOUBLE: case Types.FLOAT: case Types.REAL:
                return REAL;
            case Types.DATE:
                return DATE;
            case Types.TIMESTAMP:
                return TIMESTAMP;
            case Types.BINARY: case Types.VARBINARY: case Types.LONGVARBINARY: case Types.BLOB:
                return BYTES;
            default:
                return TEXT;
        }
    }

    /** Runs a statement; of a query all rows, or the first alone. */
    public long run(int slot, int onlyFirst) {
        try {
            in.clear();
            out.clear();
            PreparedStatement statement = statements[slot];
            bind(statement);
            if (!execute(statement)) {
                long changed = statement.getUpdateCount();
                settle();
                return Math.max(changed, 0);
            }
            rows = statement.getResultSet();
            rowKinds = kinds[slot];
            return (onlyFirst != 0 ? first() : fill()) | ROWS | moved();
        } catch (Throwable failure) {
            return fail(failure);
        }
    }

    private boolean execute(PreparedStatement statement) throws SQLException {
        running = statement;
        try {
            return statement.execute();
        } finally {
            running = null;
        }
    }

    /** Has the driver cancel the statement that another thread executes; one that cannot goes on. */
    public long interrupt() {
        try {
            PreparedStatement executed = running;
            if (executed != null) {
                executed.cancel();
            }
        } catch (Throwable ignored) {
            // The buffers are the other thread's: nothing can be told.
        }
        return 0;
    }

    /** Goes on with the rows of a query. */
    public long fetch() {
        try {
            out.clear();
            return fill() | ROWS | moved();
        } catch (Throwable failure) {
            return fail(failure);
        }
    }

    /** Ends a query whose further rows nobody wants. */
    public long cancel() {
        try {
            closeRows();
            settle();
            return 0;
        } catch (Throwable failure) {
            return fail(failure);
        }
    }

    private long fill() throws SQLException {
        long found = 0;
        while (rows.next()) {
            putRow();
            found++;
            if (out.position() > ENOUGH) {
                return found | MORE;
            }
        }
        closeRows();
        settle();
        return found;
    }

    private long first() throws SQLException {
        boolean found = rows.next();
        if (found) {
            putRow();
        }
        closeRows();
        settle();
        return found ? 1 : 0;
    }

    /** Runs a statement for each set of parameters; of a query the first row of each run, with the run's number before it. */
    public long each(int slot, int runs) {
        try {
            in.clear();
            out.clear();
            PreparedStatement statement = statements[slot];
            rowKinds = kinds[slot];
            long found = 0;
            for (int run = 0; run < runs; run++) {
                bind(statement);
                if (execute(statement)) {
                    rows = statement.getResultSet();
                    if (rows.next()) {
                        need(4);
                        out.putInt(run);
                        putRow();
                        found++;
                    }
                    closeRows();
                }
                settle();
            }
            return found | moved();
        } catch (Throwable failure) {
            return fail(failure);
        }
    }

    /** Runs a change for each set of parameters at once, and commits. */
    public long batch(int slot, int runs) {
        try {
            in.clear();
            PreparedStatement statement = statements[slot];
            for (int run = 0; run < runs; run++) {
                bind(statement);
                statement.addBatch();
            }
            running = statement;
            try {
                statement.executeBatch();
            } finally {
                running = null;
            }
            settle();
            return 0;
        } catch (Throwable failure) {
            return fail(failure);
        }
    }

    /** Opens a transaction of a level. */
    public long begin(int level) {
        try {
            if (level != isolation) {
                connection.setTransactionIsolation(level);
                isolation = level;
            }
            isOpen = true;
            return 0;
        } catch (Throwable failure) {
            return fail(failure);
        }
    }

    /** Commits, and leaves the transaction in any case. */
    public long commit() {
        try {
            isOpen = false;
            connection.commit();
            return 0;
        } catch (Throwable failure) {
            return fail(failure);
        }
    }

    /** Rolls back. */
    public long rollback() {
        try {
            isOpen = false;
            connection.rollback();
            return 0;
        } catch (Throwable failure) {
            return fail(failure);
        }
    }

    /** Closes the connection; what is open is rolled back. */
    public long close() {
        try {
            if (connection != null) {
                Connection closing = connection;
                connection = null;
                try {
                    closing.rollback();
                } finally {
                    closing.close();
                }
            }
            return 0;
        } catch (Throwable failure) {
            return fail(failure);
        }
    }

    /** Facts of driver, database and machine: lines of name and value. */
    public long facts() {
        try {
            DatabaseMetaData database = connection.getMetaData();
            Runtime runtime = Runtime.getRuntime();
            StringBuilder collectors = new StringBuilder();
            for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
                collectors.append(collectors.length() == 0 ? "" : ", ").append(collector.getName());
            }
            StringBuilder lines = new StringBuilder();
            lines.append("version=").append(database.getDatabaseProductVersion());
            lines.append("\njava_version=").append(System.getProperty("java.version"));
            lines.append("\njava_vm=").append(System.getProperty("java.vm.name"));
            lines.append("\njava_vm_version=").append(System.getProperty("java.vm.version"));
            lines.append("\njava_home=").append(System.getProperty("java.home"));
            lines.append("\njava_arguments=").append(String.join(" ", ManagementFactory.getRuntimeMXBean().getInputArguments()));
            lines.append("\nheap_bytes_max=").append(runtime.maxMemory());
            lines.append("\ngarbage_collectors=").append(collectors);
            out.clear();
            putText(lines.toString());
            return moved();
        } catch (Throwable failure) {
            return fail(failure);
        }
    }

    /** Bytes of the heap that are in use. */
    public long heap() {
        Runtime runtime = Runtime.getRuntime();
        return runtime.totalMemory() - runtime.freeMemory();
    }

    private void closeRows() throws SQLException {
        ResultSet closing = rows;
        rows = null;
        if (closing != null) {
            closing.close();
        }
    }

    /** Outside a transaction each statement is one of its own. */
    private void settle() throws SQLException {
        if (!isOpen) {
            connection.commit();
        }
    }

    private void bind(PreparedStatement statement) throws SQLException {
        int count = in.getInt();
        for (int at = 1; at <= count; at++) {
            switch (in.get()) {
                case INT:
                    statement.setLong(at, in.getLong());
                    break;
                case BOOL:
                    statement.setBoolean(at, in.get() != 0);
                    break;
                case DECIMAL: {
                    int scale = in.get();
                    statement.setBigDecimal(at, BigDecimal.valueOf(in.getLong(), scale));
                    break;
                }
                case REAL:
                    statement.setDouble(at, in.getDouble());
                    break;
                case DATE: {
                    int days = in.getInt();
                    if (hasJavaTime) {
                        statement.setObject(at, LocalDate.ofEpochDay(days));
                    } else {
                        statement.setDate(at, new Date(days * DAY));
                    }
                    break;
                }
                case TIMESTAMP: {
                    long millis = in.getLong();
                    if (hasJavaTime) {
                        int nanos = (int) Math.floorMod(millis, 1_000L) * 1_000_000;
                        statement.setObject(at, LocalDateTime.ofEpochSecond(Math.floorDiv(millis, 1_000L), nanos, ZoneOffset.UTC));
                    } else {
                        statement.setTimestamp(at, new Timestamp(millis));
                    }
                    break;
                }
                case TEXT:
                    statement.setString(at, text());
                    break;
                case BYTES:
                    statement.setBytes(at, bytes());
                    break;
                default:
                    statement.setNull(at, statement.getParameterMetaData().getParameterType(at));
            }
        }
    }

    private byte[] bytes() {
        byte[] bytes = new byte[in.getInt()];
        in.get(bytes);
        return bytes;
    }

    private String text() {
        return new String(bytes(), StandardCharsets.UTF_8);
    }

    /** Sees to it that `out` has room for so many bytes more. */
    private void need(int bytes) {
        if (out.remaining() < bytes) {
            ByteBuffer larger = direct(Math.max(2 * out.capacity(), out.position() + bytes));
            out.flip();
            larger.put(out);
            out = larger;
            moved = MOVED;
        }
    }

    private long moved() {
        long was = moved;
        moved = 0;
        return was;
    }

    private void putBytes(byte[] bytes) {
        need(4 + bytes.length);
        out.putInt(bytes.length);
        out.put(bytes);
    }

    private void putText(String text) {
        putBytes(String.valueOf(text).getBytes(StandardCharsets.UTF_8));
    }

    private void putRow() throws SQLException {
        ResultSet row = rows;
        byte[] columns = rowKinds;
        need(10 * columns.length);
        for (int at = 0; at < columns.length; at++) {
            int column = at + 1;
            switch (columns[at]) {
                case INT: {
                    long value = row.getLong(column);
                    if (value == 0 && row.wasNull()) {
                        out.put(NULL);
                    } else {
                        out.put(INT).putLong(value);
                    }
                    break;
                }
                case BOOL: {
                    boolean value = row.getBoolean(column);
                    if (row.wasNull()) {
                        out.put(NULL);
                    } else {
                        out.put(BOOL).put((byte) (value ? 1 : 0));
                    }
                    break;
                }
                case DECIMAL: {
                    BigDecimal value = row.getBigDecimal(column);
                    if (value == null) {
                        out.put(NULL);
                    } else if (value.precision() < 19 && value.scale() >= 0) {
                        out.put(DECIMAL).put((byte) value.scale()).putLong(value.unscaledValue().longValue());
                    } else {
                        out.put(REAL).putDouble(value.doubleValue());
                    }
                    break;
                }
                case REAL: {
                    double value = row.getDouble(column);
                    if (value == 0 && row.wasNull()) {
                        out.put(NULL);
                    } else {
                        out.put(REAL).putDouble(value);
                    }
                    break;
                }
                case DATE:
                    putDate(row, column);
                    break;
                case TIMESTAMP:
                    putTimestamp(row, column);
                    break;
                case BYTES: {
                    byte[] value = row.getBytes(column);
                    if (value == null) {
                        out.put(NULL);
                    } else {
                        putLong(BYTES, value, columns.length - at);
                    }
                    break;
                }
                default: {
                    String value = row.getString(column);
                    if (value == null) {
                        out.put(NULL);
                    } else {
                        putLong(TEXT, value.getBytes(StandardCharsets.UTF_8), columns.length - at);
                    }
                }
            }
        }
    }

    /** What may be long, with room behind it for the columns that follow. */
    private void putLong(byte kind, byte[] bytes, int columns) {
        need(bytes.length + 10 * columns);
        out.put(kind).putInt(bytes.length).put(bytes);
    }

    private void putDate(ResultSet row, int column) throws SQLException {
        if (hasJavaTime) {
            LocalDate value = row.getObject(column, LocalDate.class);
            if (value != null) {
                out.put(DATE).putInt((int) value.toEpochDay());
                return;
            }
        } else {
            Date value = row.getDate(column);
            if (value != null) {
                out.put(DATE).putInt((int) Math.floorDiv(value.getTime(), DAY));
                return;
            }
        }
        out.put(NULL);
    }

    private void putTimestamp(ResultSet row, int column) throws SQLException {
        if (hasJavaTime) {
            LocalDateTime value = row.getObject(column, LocalDateTime.class);
            if (value != null) {
                out.put(TIMESTAMP).putLong(value.toEpochSecond(ZoneOffset.UTC) * 1_000 + value.getNano() / 1_000_000);
                return;
            }
        } else {
            Timestamp value = row.getTimestamp(column);
            if (value != null) {
                out.put(TIMESTAMP).putLong(value.getTime());
                return;
            }
        }
        out.put(NULL);
    }

    /** Describes a failure; outside a transaction what the statement did is undone. */
    private long fail(Throwable failure) {
        try {
            closeRows();
        } catch (SQLException ignored) {
            // The first failure is the one to tell.
        }
        try {
            if (!isOpen && connection != null) {
                connection.rollback();
            }
        } catch (SQLException ignored) {
            // As above.
        }
        byte what = OTHER;
        int code = 0;
        String state = "";
        String words = failure.toString();
        if (failure instanceof SQLException) {
            SQLException told = (SQLException) failure;
            if (told instanceof BatchUpdateException && told.getNextException() != null) {
                told = told.getNextException();
            }
            what = told.getCause() instanceof OutOfMemoryError ? MEMORY : SQL;
            code = told.getErrorCode();
            state = told.getSQLState();
            words = told.getMessage();
            Throwable root = told;
            while (root.getCause() != null) {
                root = root.getCause();
            }
            // What the system said, a full disk for one, is not always in the driver's own words.
            if (root instanceof IOException && root.getMessage() != null) {
                words = root.getMessage() + ": " + words;
            }
        } else if (failure instanceof OutOfMemoryError) {
            what = MEMORY;
        } else if (failure instanceof UnsupportedClassVersionError) {
            what = OLD_JAVA;
        } else if (failure instanceof ClassNotFoundException || failure instanceof LinkageError) {
            what = NO_CLASS;
        }
        out.clear();
        need(5);
        out.put(what).putInt(code);
        putText(state == null ? "" : state);
        putText(words);
        return FAILED | moved();
    }
}
